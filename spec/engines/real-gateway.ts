import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { command } from '../helpers/command.js';
import { makeClient, type Client } from '../lib/gateway/fixture.js';

/** A gateway as people run it. */
export interface Gateway {
  readonly operator: Client;
  readonly child: ChildProcess;
  readonly gone: Promise<unknown>;
}

export async function startGateway(home: string, env: Readonly<Record<string, string>>): Promise<Gateway> {
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

export async function settled(operator: Client, id: string, status: string): Promise<SettledSession> {
  let { body } = await operator.get(`/api/sessions/${id}`);
  for (let tries = 0; tries < 600 && ['running', 'waiting'].includes(body.status); tries += 1) {
    await setTimeout(100);
    ({ body } = await operator.get(`/api/sessions/${id}`));
  }
  expect(body.status, JSON.stringify(body.lastError ?? null)).to.equal(status);
  return body as SettledSession;
}

export interface SettledSession {
  readonly messages: readonly Message[];
  readonly sandbox: { readonly level: string };
}

interface Message {
  readonly content: string;
  readonly meta?: { readonly kind?: string; readonly files?: readonly string[] };
  readonly media?: readonly { readonly url: string }[];
}
