import { expect } from 'chai';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Subject } from './cases.js';
import { settled, startGateway, type Gateway } from './real-gateway.js';

/**
 * A gateway as people run it is killed while its agent works, and started again: the turn is interrupted,
 * nothing of the agent runs on, the prompt was delivered once, and the next message goes on with what was
 * said before.
 */
export async function gatewayKilled(subject: Subject): Promise<string> {
  const { model } = subject;
  const home = await mkdtemp(join(subject.folder, 'gateway-'));
  await writeFile(
    join(home, 'config.yaml'),
    JSON.stringify({
      agents: { worker: false, sandbox: subject.level },
      engines: { default: subject.name, ...subject.settings },
    }),
  );
  const first = await startGateway(home, subject.env);
  let second: Gateway | undefined;
  try {
    const { id } = (await first.operator.post('/api/sessions', { prompt: '[[say one]] grape' })).body as {
      id: string;
    };
    await settled(first.operator, id, 'idle');
    const held = model.held();
    await first.operator.post(`/api/sessions/${id}/message`, { message: '[[slow half of a grape]]' });
    await held;
    first.child.kill('SIGKILL');
    await first.gone;

    second = await startGateway(home, subject.env);
    await settled(second.operator, id, 'interrupted');
    expect(await agentsOf(id), 'processes of the dead gateway').to.deep.equal([]);
    expect(
      model.turns.filter(
        ({ said, tools }) => tools.length > 0 && said.at(-1)?.includes('[[slow half of a grape]]') === true,
      ),
      'deliveries',
    ).to.have.length(1);
    await second.operator.post(`/api/sessions/${id}/message`, { message: '[[recall]]' });
    const { messages } = await settled(second.operator, id, 'idle');
    expect(messages.at(-1)?.content).to.include('grape');
    return 'interrupted, nothing left, delivered once, went on';
  } finally {
    for (const gateway of [first, second]) gateway?.child.kill('SIGKILL');
    await second?.gone;
  }
}

/** Living processes that were started for a session. */
async function agentsOf(id: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ') Z');
    if (environment.includes(`SVC_SESSION_ID=${id}`) && !/\) [ZX]/.test(stat)) found.push(pid);
  }
  return found;
}
