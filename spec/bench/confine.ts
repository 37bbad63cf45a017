import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxLevel } from '../../actors/sandbox/levels.js';
import { createSandbox, type Sandbox } from '../../actors/sandbox/sandbox.js';
import { median, percentile, type Figure, type Measure } from './measure.js';

/**
 * What the start of a confined program costs more than that of a bare one, by how many folders there are in the user's
 * own. Bare and confined in turn, so that a busy machine slows both.
 */
export const confine: Measure = {
  name: 'confine',
  about: 'the start of a confined program, beyond that of a bare one',
  async run({ size = 21 }) {
    const figures: Figure[] = [];
    for (const folders of [0, 100, 1_000])
      for (const level of ['home', 'workspace'] as const) {
        const more = await pairs(folders, level, size);
        const note = `p10 ${percentile(more, 0.1).toFixed(1)}, p90 ${percentile(more, 0.9).toFixed(1)}, ${size} pairs`;
        const name = `${level}, ${folders} folders`;
        figures.push({ name, value: median(more), unit: 'ms', target: { atMost: 50 }, note });
      }
    return figures;
  },
};

async function pairs(folders: number, level: SandboxLevel, count: number): Promise<readonly number[]> {
  const home = await mkdtemp(join(tmpdir(), 'bench-confine-'));
  const before = process.env['HOME'];
  process.env['HOME'] = home;
  try {
    for (const name of ['.config', 'project']) await mkdir(join(home, name));
    for (let n = 0; n < folders; n += 1) await mkdir(join(home, `folder-${n}`));
    const port = createSandbox({ hidden: async () => [], ownFolders: [], isRequired: () => true });
    await started(port, home, level); // what is looked for once
    const more: number[] = [];
    for (let n = 0; n < count; n += 1) {
      const bare = await started(port, home, 'off');
      more.push((await started(port, home, level)) - bare);
    }
    return more;
  } finally {
    process.env['HOME'] = before;
    await rm(home, { recursive: true });
  }
}

/** Milliseconds until the program has ended. */
async function started(port: Sandbox, home: string, level: SandboxLevel): Promise<number> {
  const began = performance.now();
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const command = { program: '/bin/true', args: [], cwd: join(home, 'project'), env, sessionId: 'bench' };
  const confined = await port.confine(command, level);
  const { status } = spawnSync(confined.program, confined.args, { cwd: confined.cwd, env: confined.env });
  if (status !== 0) throw new Error(`${level}: ended with ${status}`);
  return performance.now() - began;
}
