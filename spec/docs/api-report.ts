import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from '../house/sources.js';

export const apiReportFile = 'spec/types/api-report.md';

/** Everything that our entries export. */
interface Face {
  /** With its signatures, for reviewers. */
  readonly report: string;
  /** With its docstrings too, for users. */
  readonly reference: string;
  /** By entry: members within declarations that have no sentence. */
  readonly bare: Readonly<Record<string, readonly string[]>>;
}

let face: Promise<Face> | undefined;

export const apiReport = async (): Promise<string> => (await (face ??= readFace())).report;
export const bareMembers = async (): Promise<Face['bare']> => (await (face ??= readFace())).bare;
export const apiReference = async (): Promise<string> => (await (face ??= readFace())).reference;

/** By api-extractor, which brings a TypeScript of its own: made once. */
async function readFace(): Promise<Face> {
  const child = spawn(process.execPath, [join(root, 'generators/api-report.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [made, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number]>]);
  if (code !== 0) throw new Error(`api-extractor ended with ${code}; npm ci installs it.`);
  return JSON.parse(made) as Face;
}
