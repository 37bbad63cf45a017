import { createInterface } from 'node:readline/promises';
import type { Client } from './client.js';
import type { Terminal } from './command-line.js';
import { plainText } from './print.js';

/**
 * A message to a session that works ends what it does, unless the gateway lets messages wait: says which, and asks
 * where someone can answer.
 */
export async function mayInterrupt(
  client: Client,
  id: string,
  { terminal, isInteractive }: { readonly terminal: Terminal; readonly isInteractive: boolean },
): Promise<boolean> {
  const session = await client.get('/api/sessions/{id}', { params: { path: { id }, query: { last: '50' } } });
  if (session.status !== 'running') return true;
  const asked = session.messages?.findLast(({ role }) => role === 'user')?.content ?? '';
  const work = plainText(asked).slice(0, 80);
  const at = `The session is working${work === '' ? '' : ` on "${work}"`}`;
  const { sessions } = (await client.get('/api/config')) as Settings;
  if (sessions?.interruptOnNewMessage === false) {
    terminal.say(`${at}. Your message waits until that is done.`);
    return true;
  }
  if (!isInteractive) {
    terminal.say(`${at}. Your message interrupts it.`);
    return true;
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on('SIGINT', () => process.emit('SIGINT')); // readline would keep Ctrl-C to itself
  try {
    return /^y(?:es)?$/i.test((await lines.question(`${at}. Interrupt it? [y]es  [n]o `)).trim());
  } finally {
    lines.close();
  }
}

interface Settings {
  readonly sessions?: { readonly interruptOnNewMessage?: boolean };
}
