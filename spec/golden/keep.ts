import { brotliDecompressSync } from 'node:zlib';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../../lib/version.js';
import { compressed, contentsOf, pack } from './archive.js';
import { census, staysQuiet } from './quiet.js';
import { openGolden } from './open.js';
import { comparable } from './comparable.js';
import { readEverything } from './reading.js';

export const homesFolder = fileURLToPath(new URL('../../../spec/golden/homes/', import.meta.url));

/** What was found in a home by the build that made it, after it had opened it again. */
export interface Expectations {
  readonly version: string;
  /** Wall time at which the home's last process ended, epoch ms. */
  readonly at: number;
  readonly census: Readonly<Record<string, number>>;
  readonly reading: Readonly<Record<string, unknown>>;
}

/** Packs it, opens what was packed, and writes both that and what is to be found in it. */
export async function keep(
  { home, at }: { readonly home: string; readonly at: number },
  ending: string,
): Promise<string> {
  await rm(join(home, 'logs', 'gateway.log'), { force: true }); // its stack traces name the checkout
  const packed = await pack(home);
  refuseSecrets(packed);
  await rm(home, { recursive: true }); // or its sessions would find their working folders, and no one else's would
  const folder = await mkdtemp(join(tmpdir(), 'troupe-golden-'));
  try {
    const golden = await openGolden(packed, folder, at);
    await staysQuiet(golden.instance.operator);
    const found = await census(golden.instance.operator);
    const reading = comparable(await readEverything(golden.instance.operator), golden.marks);
    await golden.close();
    const expectations: Expectations = { version, at, census: found, reading };
    const name = `${version}-${ending}`;
    const told = compressed(Buffer.from(JSON.stringify(expectations)));
    await writeFile(join(homesFolder, `${name}.home.br`), packed);
    await writeFile(join(homesFolder, `${name}.expected.br`), told);
    return `${name}: ${packed.length} + ${told.length} bytes, ${Object.keys(reading).length} addresses`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Nothing of the machine that made it may stand in a home that everybody gets. */
function refuseSecrets(packed: Buffer): void {
  const checkout = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '');
  for (const { path, content } of contentsOf(packed)) {
    const text = content?.toString('latin1') ?? '';
    for (const word of [checkout, process.execPath, `"${hostname()}"`])
      if (text.includes(word)) throw new Error(`${path} says ${word}`);
  }
}

/** What is to be found in the home of that name: `expectationsOf('0.1.0-clean')`. */
export const expectationsOf = async (name: string): Promise<Expectations> =>
  JSON.parse(
    brotliDecompressSync(await readFile(join(homesFolder, `${name}.expected.br`))).toString(),
  ) as Expectations;
