import type { Delta, Run } from '../client/index.js';
import type { Layout } from '../home/layout.js';
import type { PermissionQuestions } from './ask-permission.js';
import type { Terminal } from './command-line.js';
import { plainText } from './print.js';
import { timesOf } from './times.js';

/** What was shown of the answer while it came. */
export type Shown = 'nothing' | 'whole lines' | 'an open line';

/** Prints what comes of a turn until its end, and asks what its agent asks. Rejects when the gateway is lost. */
export async function showTurn(
  run: Run,
  {
    terminal,
    layout,
    questions,
    quiet = false,
  }: {
    readonly terminal: Terminal;
    readonly layout: Layout;
    readonly questions: PermissionQuestions;
    readonly quiet?: boolean;
  },
): Promise<Shown> {
  let shown: Shown = 'nothing';
  for await (const delta of run) {
    if (delta.type === 'permission') questions.take(run.sessionId, delta);
    else if (quiet) continue;
    else if (delta.type === 'text') {
      terminal.write(plainText(delta.content, { keepLines: true }));
      if (delta.content !== '') shown = delta.content.endsWith('\n') ? 'whole lines' : 'an open line';
    } else {
      const remark = await remarkOf(delta, layout);
      if (remark !== undefined) terminal.say(`[${remark}]`);
    }
  }
  return shown;
}

async function remarkOf(
  { type, content, toolName, resetAt }: Delta,
  layout: Layout,
): Promise<string | undefined> {
  if (type === 'tool_use') return plainText(toolName ?? content);
  if (type === 'status' || type === 'error') return plainText(content);
  if (type !== 'rate-limited') return undefined;
  const until = resetAt === undefined ? '' : ` until ${(await timesOf(layout)).dateAndTime(resetAt)}`;
  return `held${until}${content === '' ? '' : `: ${plainText(content)}`}`;
}
