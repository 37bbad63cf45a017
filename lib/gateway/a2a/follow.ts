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
  let words = '';
  let isDue = true;
  let wake = (): void => undefined;
  const forget = supervisor.onProgress(({ actor, event, payload }) => {
    const { type, content } = payload as { readonly type?: string; readonly content?: string };
    if (actor.id !== task.sessionId || event !== 'session:delta' || type !== 'text') return;
    words += content ?? '';
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
    wake();
  })();
  until.addEventListener('abort', () => wake());
  try {
    while (!until.aborted) {
      if (isDue) {
        isDue = false;
        const now = await readTask(app, employee, task.id);
        if (now === undefined) return; // erased, or deleted
        // What was said before its end comes before it
        if (words !== '' && !isEnded(now)) yield { words: taken() };
        yield { task: now };
        if (isEnded(now)) return;
      } else if (words !== '') yield { words: taken() };
      if (isDue || words !== '' || until.aborted) continue;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    ended.abort();
    forget();
    await watching;
  }

  function taken(): string {
    const piece = words;
    words = '';
    return piece;
  }
}

const minor: ReadonlySet<string> = new Set(['turn.recorded', 'turn.heard', 'turn.native', 'output.swept']);
