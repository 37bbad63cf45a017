import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { nodeFiles } from '../../../lib/store/files.js';
import { hex } from '../../../lib/store/frame.js';
import { readFrames } from '../../../lib/store/frame-reader.js';
import { withRawRows } from './raw-rows.js';

/**
 * Make a closed home what 0.1 would have left: rows whose checksum covers the value alone, a head row, frames and a
 * checkpoint without a digest.
 */
export async function toFormat1(home: string): Promise<void> {
  await withRawRows(home, async (level) => {
    const rows = await level.iterator().all();
    await level.batch(rows.map(([key, stored]) => ({ type: 'put', key, value: seal(key, stored.slice(9)) })));
  });
  const copy = join(home, 'store-copy');
  const sizes = new Map<string, number>();
  for (const name of (await readdir(copy)).filter((file) => /^(?:segment|base)-/.test(file))) {
    const pieces: Buffer[] = [];
    for await (const found of readFrames(nodeFiles, join(copy, name))) {
      if ('damage' in found) throw new Error(`${name} is damaged`);
      const body = Buffer.from(found.body.toString().replace(/(?<=^\+ head\t).*/gm, withoutDigest));
      const { frame, first, seq, chain } = found.frame;
      const wide = (value: number, width: number): string => String(value).padStart(width, '0');
      const rest = `${wide(frame, 16)} ${wide(first, 16)} ${wide(seq, 16)} ${wide(body.length, 10)} ${chain === '' ? '-'.repeat(43) : chain}\n`;
      pieces.push(Buffer.from(`#${hex(crc32(body, crc32(rest)))} ${rest}`), body);
    }
    const bytes = Buffer.concat(pieces);
    sizes.set(name, bytes.length);
    await writeFile(join(copy, name), bytes);
  }
  const path = join(copy, 'checkpoint.json');
  const { sum: _sum, digest: _digest, ...checkpoint } = JSON.parse(await readFile(path, 'utf8'));
  const { base, segment } = checkpoint;
  await writeFile(
    path,
    `${JSON.stringify({
      ...checkpoint,
      format: 1,
      offset: sizes.get(segment),
      base: base && { ...base, bytes: sizes.get(base.file) },
    })}\n`,
  );
}

function seal(key: string, value: string): string {
  const text = key === ' head' ? withoutDigest(value) : value;
  return hex(crc32(text)) + text;
}

function withoutDigest(head: string): string {
  const { digest: _digest, ...rest } = JSON.parse(head) as { readonly digest: string };
  return JSON.stringify(rest);
}
