import { defineEngine, type Engine, type TurnIO, type TurnRequest } from '../../../actors/engines/engine.js';
import type { TurnResult } from '../../../actors/engines/turn-events.js';

/** The world outside, where agents act; it outlives every process of the gateway. */
export interface Outside {
  /** How many turns were given each message, by the name that stands in it. */
  readonly heard: Map<string, number>;
  /** No one acts in a process that is dead. */
  alive(): boolean;
  wait(ms: number): Promise<void>;
}

/** The name of an operation, as it stands in the text of a message: `<open12 slow>` */
export const tokensIn = (text: string): string[] =>
  [...text.matchAll(/<([a-z]+\d+) [a-z]+>/g)].map(([, token]) => token!);

/**
 * An agent whose behaviour stands in its prompt: it answers, throws, is slow, or is silent until it is
 * interrupted; now and then it uses tools, and asks before it does.
 */
export const scriptedAgent = (outside: () => Outside): Engine =>
  defineEngine({
    name: 'scripted',
    effortMechanism: 'none',
    isInProcess: true,
    discover: async () => ({ available: true, defaultModel: 'one', models: [] }),
    async turn(request, io) {
      const { heard, alive, wait } = outside();
      if (!alive()) return new Promise(() => undefined);
      for (const token of tokensIn(request.prompt)) heard.set(token, (heard.get(token) ?? 0) + 1);
      await wait(20);
      const result = await act(request, io, wait);
      return alive() ? result : new Promise(() => undefined);
    },
  });

async function act(
  { prompt }: TurnRequest,
  io: TurnIO,
  wait: (ms: number) => Promise<void>,
): Promise<TurnResult> {
  const tokens = tokensIn(prompt);
  const behaviour = /<[a-z]+\d+ ([a-z]+)>\s*$/.exec(prompt)?.[1] ?? 'good';
  const left = new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const pause = (ms: number): Promise<void> => Promise.race([wait(ms), left]);
  for (const [n, token] of tokens.entries()) {
    const toolId = `t${n}`;
    if (Number(token.at(-1)) % 3 === 0) {
      const answer = await io.permission({ tool: 'Bash', title: `run ${token}`, input: { command: token } });
      if (!answer.allow) io.report({ type: 'notice', text: answer.message });
    }
    io.report({ type: 'tool.started', toolId, tool: 'Read', input: token });
    await pause(30);
    io.report({ type: 'tool.finished', toolId, output: `read ${token}`, isError: false });
    io.report({ type: 'text', text: `did ${token}. ` });
  }
  if (behaviour === 'throws') throw new Error('the agent fell over');
  if (behaviour === 'slow') await pause(20_000);
  if (behaviour === 'silent') await left;
  return io.signal.aborted
    ? { outcome: 'interrupted', text: '' }
    : { outcome: 'succeeded', text: `answers ${tokens.join(' ')}`, usage: { costUsd: 0.01 } };
}
