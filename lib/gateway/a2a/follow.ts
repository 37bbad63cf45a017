import type { App } from '../../commands/app.js';
import { isEnded, readTask, type Task } from '../../commands/a2a/read-task.js';

/** What becomes of a task: its state, as it is committed, or more words of the answer that is being written. */
export type TaskNews = { readonly task: Task } | { readonly words: string };

/**
 * Follows a task until it has ended, from how it is now on. The words of an answer are a courtesy and may have holes;
 * what counts is the answer of the ended task. A reader that is slow gets them in fewer, larger pieces.
 */
export async function* followTask(
  app: App,
  employee: string,
  task: Task,
  signal: AbortSignal,
): AsyncGenerator<TaskNews, void, undefined> {
  const { supervisor } = app;
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal]);
  let { turn } = task;
  /** Of the turn that speaks now: it may be one that no one has read of yet, and may be none of this task. */
  let heard = { answerId: '', words: '' };
  let isDue = true;
  let fault: { readonly error: unknown } | undefined;
  let wake = (): void => undefined;
  const forget = supervisor.onProgress(({ actor, event, payload }) => {
    const { type, content = '', messageId = '' } = payload as Delta;
    if (actor.id !== task.sessionId || event !== 'session:delta' || type !== 'text') return;
    if (messageId !== heard.answerId) heard = { answerId: messageId, words: '' };
    heard.words += content;
    wake();
  });
  const watching = (async () => {
    for await (const entry of supervisor.watch({
      since: supervisor.status.position,
      kinds: ['session'],
      ids: [task.sessionId],
      signal: until,
    })) {
      // What an agent does within a turn is written at every tool, and changes nothing here
      if (minor.has((entry.event as { readonly type?: string }).type ?? '')) continue;
      isDue = true;
      wake();
    }
    ended.abort(); // the home is closed
  })().catch((error: unknown) => {
    fault = { error };
    ended.abort();
  });
  until.addEventListener('abort', () => wake());
  try {
    while (!until.aborted) {
      if (isDue) {
        isDue = false;
        const now = await readTask(app, employee, task.id);
        if (now === undefined) return; // erased, or deleted
        ({ turn } = now);
        // What was said before its end comes before it
        const words = isEnded(now) ? '' : ownWords();
        if (words !== '') yield { words };
        yield { task: now };
        if (isEnded(now)) return;
      }
      const words = ownWords();
      if (words !== '') yield { words };
      else if (!isDue && !until.aborted) await new Promise<void>((resolve) => (wake = resolve));
    }
    if (fault !== undefined) throw fault.error;
  } finally {
    ended.abort();
    forget();
    await watching;
  }

  /** What others of the house are told in the same session is not for outsiders. */
  function ownWords(): string {
    if (heard.answerId !== `${turn.id}:answer`) return '';
    const { words } = heard;
    heard.words = '';
    return turn.isOwn ? words : '';
  }
}

interface Delta {
  readonly type?: string;
  readonly content?: string;
  readonly messageId?: string;
}

const minor: ReadonlySet<string> = new Set(['turn.recorded', 'turn.heard', 'turn.native', 'output.swept']);
