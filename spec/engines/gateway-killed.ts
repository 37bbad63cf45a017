import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { makeClient, type Client } from '../lib/gateway/fixture.js';
import type { Subject } from './cases.js';
import { command } from '../helpers/command.js';

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
    JSON.stringify({ agents: { worker: false }, engines: { default: subject.name, ...subject.settings } }),
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

interface Gateway {
  readonly operator: Client;
  readonly child: ChildProcess;
  readonly gone: Promise<unknown>;
}

async function startGateway(home: string, env: Readonly<Record<string, string>>): Promise<Gateway> {
  const child = spawn(process.execPath, [command, 'start', '--home', home, '--port', '0'], {
    env: { PATH: process.env['PATH'], SCRIPTED_KEY: process.env['SCRIPTED_KEY'], ...env },
    stdio: ['ignore', 'ignore', 'pipe'], // its remarks go there
  });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    let told = '';
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
      told += piece;
      const [, found] = /Troupe runs at (\S+)\n/.exec(told) ?? [];
      if (found !== undefined) resolve(found);
    });
    void gone.then(() => reject(new Error(`the gateway did not start: ${told}`)));
  });
  const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
  return {
    child,
    gone,
    operator: makeClient(Number(new URL(url).port), { authorization: `Bearer ${token}` }),
  };
}

async function settled(
  operator: Client,
  id: string,
  status: string,
): Promise<{ messages: readonly { content: string }[] }> {
  let { body } = await operator.get(`/api/sessions/${id}`);
  for (let tries = 0; tries < 600 && ['running', 'waiting'].includes(body.status); tries += 1) {
    await setTimeout(100);
    ({ body } = await operator.get(`/api/sessions/${id}`));
  }
  expect(body.status, JSON.stringify(body.lastError ?? null)).to.equal(status);
  return body as { messages: readonly { content: string }[] };
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
