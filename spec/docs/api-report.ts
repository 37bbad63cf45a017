import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from '../house/sources.js';

export const apiReportFile = 'spec/types/api-report.md';

/** Everything that our entries export, with its signatures, by api-extractor: it brings a TypeScript of its own. */
export async function apiReport(): Promise<string> {
  const child = spawn(process.execPath, [join(root, 'generators/api-report.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [report, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number]>]);
  if (code !== 0) throw new Error(`api-extractor ended with ${code}; npm ci installs it.`);
  return report;
}
