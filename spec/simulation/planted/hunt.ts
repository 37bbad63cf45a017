import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { allPlanted } from './all.js';
import type { Planted } from './planted.js';

/**
 * `node dist/spec/simulation/planted/hunt.js [--seeds 10000] [--only name]`: plants one fault after the other and
 * counts seeds up until one is found. Prints the table of the README; ends with 1 where one was not found.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    only: { type: 'string' },
    from: { type: 'string', default: '0' },
  },
});
const main = fileURLToPath(new URL('../main.js', import.meta.url));
/** A history that shows nothing for so long hangs: that, too, is found. */
const silentMsMax = 240_000;
const wanted = values.only?.split(',');

let missed = 0;
for (const planted of allPlanted) {
  if (wanted !== undefined && !wanted.includes(planted.name)) continue;
  const found = await hunt(planted);
  if (found === undefined) missed += 1;
  console.log(
    `| ${planted.name} | ${planted.what} | ${found?.seed ?? '–'} | ${found?.problem ?? 'not found'} |`,
  );
}
process.exitCode = missed === 0 ? 0 : 1;

function hunt({
  name,
  world,
}: Planted): Promise<{ readonly seed: number; readonly problem: string } | undefined> {
  return new Promise((resolve) => {
    const words = [
      '--single-threaded',
      '--max-semi-space-size=64',
      main,
      '--plant',
      name,
      '--world',
      world ?? 'workshop',
      '--seeds',
      values.seeds,
      '--from',
      values.from,
    ];
    const child = spawn(process.execPath, [...words, '--stop-at-first', '--digests'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    let silent = setTimeout(() => undefined, 0);
    const end = (found: { readonly seed: number; readonly problem: string } | undefined): void => {
      clearTimeout(silent);
      child.kill('SIGKILL');
      resolve(found);
    };
    const next = (): number => Number(/.*^digest (\d+) /ms.exec(text)?.[1] ?? Number(values.from) - 1) + 1;
    const wait = (): void => {
      clearTimeout(silent);
      silent = setTimeout(() => end({ seed: next(), problem: 'it hangs' }), silentMsMax);
    };
    wait();
    child.stdout.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-4_000);
      const found = /^seed (\d+): (?:Broken: )?(.*)$/m.exec(text);
      if (found !== null)
        return end({ seed: Number(found[1]), problem: found[2]!.slice(0, 90).replaceAll('|', '/') });
      wait();
    });
    // 1: its own finding, told above
    child.on('exit', (code) =>
      end(code === 0 || code === 1 ? undefined : { seed: next(), problem: 'the process dies' }),
    );
  });
}
