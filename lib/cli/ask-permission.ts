import { createInterface } from 'node:readline/promises';
import type { Delta } from '../client/index.js';
import type { Client } from './client.js';
import { hint, type Terminal } from './command-line.js';
import type { Layout } from '../home/layout.js';
import { plainText } from './print.js';
import { toolInputLines } from './tool-input.js';
import { decide, lastPart, type Verb } from './waiting.js';

/**
 * What the agent of a watched session asks: in a terminal the person is asked at once; without one a line says
 * which command answers. One question at a time, in the order in which they came; one that was decided
 * elsewhere meanwhile is withdrawn.
 */
export class PermissionQuestions {
  /** Requests that ended because no one decided them. */
  expired = 0;
  private last: Promise<void> = Promise.resolve();
  private readonly open = new Map<string, AbortController>();

  constructor(
    private readonly client: Client,
    private readonly layout: Layout,
    private readonly terminal: Terminal,
    private readonly isInteractive: boolean,
  ) {}

  /** Of a run: a tool request that awaits a decision, or was decided. */
  take(sessionId: string, { permissionId: id = '', state }: Delta): void {
    if (state === 'pending') {
      const withdrawn = new AbortController();
      this.open.set(id, withdrawn);
      this.last = this.last.then(() => this.ask(sessionId, id, withdrawn.signal));
      return;
    }
    if (state === 'expired') this.expired += 1;
    this.open.get(id)?.abort();
    this.open.delete(id);
  }

  private async ask(sessionId: string, id: string, withdrawn: AbortSignal): Promise<void> {
    const { terminal, layout } = this;
    const list = await this.client.get('/api/sessions/{id}/permissions', {
      params: { path: { id: sessionId } },
    });
    const asked = list.find((permission) => permission.id === id);
    if (asked?.state !== 'pending' || withdrawn.aborted) return;
    terminal.say(
      `\nThe agent asks to use ${plainText(asked.tool)}` +
        `${asked.title === '' || asked.title === asked.tool ? '' : `: ${plainText(asked.title)}`}`,
    );
    for (const line of toolInputLines(asked.input)) terminal.say(`  ${line}`);
    const short = `${sessionId}:${lastPart(id)}`;
    if (!this.isInteractive)
      return terminal.say(`  answer: ${hint(layout, 'allow', short)}, or ${hint(layout, 'deny', short)}`);
    const { rule } = asked as { readonly rule?: string | null };
    const verdict = await question(withdrawn, rule ?? undefined);
    if (verdict === undefined) return terminal.say('  (decided elsewhere)');
    await decide(
      this.client,
      { what: 'permission', id: sessionId, waitingId: id },
      verdict.verb,
      { always: verdict.always },
      layout,
    ).catch((error: Error) => terminal.say(`  ${error.message}`));
  }
}

/** Asks until the answer is one; undefined when the question was withdrawn. Always needs a rule to keep. */
async function question(
  withdrawn: AbortSignal,
  rule: string | undefined,
): Promise<{ readonly verb: Verb; readonly always: boolean } | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on('SIGINT', () => process.emit('SIGINT')); // readline would keep Ctrl-C to itself
  const always = rule === undefined ? '' : `  [a]lways ${plainText(rule)} in this session`;
  try {
    for (;;) {
      const text = await lines.question(`[y]es  [n]o${always}? `, { signal: withdrawn });
      const answer = answers[text.trim().toLowerCase()[0] ?? ''];
      if (answer !== undefined && isWord(text) && (rule !== undefined || !answer.always)) return answer;
    }
  } catch {
    return undefined;
  } finally {
    lines.close();
  }
}

const isWord = (text: string): boolean => /^\s*(?:y|yes|n|no|a|always)\s*$/i.test(text);
const answers: Readonly<Record<string, { readonly verb: Verb; readonly always: boolean }>> = {
  y: { verb: 'allow', always: false },
  n: { verb: 'deny', always: false },
  a: { verb: 'allow', always: true },
};
