import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Subject } from './cases.js';
import { settled, startGateway } from './real-gateway.js';

/**
 * What a gateway as people run it keeps of a turn of the real program in a repository: its tool with what that said,
 * and the difference that it made; in a process of its own that outlives the gateway, and without.
 */
export async function gatewayKeeps(subject: Subject, worker: boolean): Promise<string> {
  const home = await mkdtemp(join(subject.folder, 'gateway-'));
  const cwd = await mkdtemp(join(subject.folder, 'repository-'));
  const git = (...words: readonly string[]): unknown =>
    execFileSync('git', ['-C', cwd, '-c', 'user.name=x', '-c', 'user.email=x@x', ...words], {
      stdio: 'ignore',
    });
  git('init');
  git('commit', '--allow-empty', '-m', 'begin');
  const agents = { worker, sandbox: subject.level, sandboxRequired: subject.level !== 'off' };
  await writeFile(
    join(home, 'config.yaml'),
    JSON.stringify({ agents, engines: { default: subject.name, ...subject.settings } }),
  );
  const gateway = await startGateway(home, subject.env);
  const { operator } = gateway;
  try {
    const opened = await operator.post('/api/sessions', {
      prompt: `[[tool ${subject.shell}]]`,
      cwd,
      permissions: 'full',
    });
    expect(opened.status, opened.text).to.equal(201);
    const { messages, sandbox } = await settled(operator, opened.body.id as string, 'idle');
    expect(sandbox.level).to.equal(subject.level);
    const kept = (kind: string) => messages.find(({ meta }) => meta?.kind === kind);
    expect(JSON.stringify(kept('tool')), JSON.stringify(messages)).to.include('made-42');
    const changes = kept('changes');
    expect(changes?.meta?.files).to.deep.equal(['made']);
    const patch = await operator.get(changes?.media?.[0]?.url ?? '');
    expect(patch.text).to.include('+made-42');
    const { workers } = (await operator.get('/api/workers')).body as { workers: readonly { pid: number }[] };
    expect(workers).to.have.length(worker ? 1 : 0);
    for (const { pid } of workers) process.kill(pid, 'SIGKILL');
    return 'tool and difference, as the program made them';
  } finally {
    gateway.child.kill('SIGKILL');
    await gateway.gone;
  }
}
