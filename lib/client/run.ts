import type { components } from './api.js';
import type { Events, EventsOptions, GatewayEvent } from './events.js';
import { isRefusal, type Refusal } from './refusal.js';
import type { RefusalOf, Requests, RequestSettings } from './requests.js';

/** A session as the gateway shows it. */
export type Session = components['schemas']['Session'];

/** Who answers, and where: `client.sessions.run(prompt, { engine: 'claude', cwd })`. */
export interface RunSettings extends RequestSettings {
  /** Continue this session instead of opening one. */
  readonly session?: string;
  /** Default: the employee's, else the gateway's default engine. */
  readonly engine?: string;
  /** As whom the agent works: rank, budget and permissions are this employee's. Default: none. */
  readonly employee?: string;
  /** One that the engine offers. Default: the engine's. */
  readonly model?: string;
  /** A level that the model offers. Default: the model's. */
  readonly effort?: string;
  /** An existing folder inside `sessions.roots` of config.yaml. */
  readonly cwd?: string;
  /** Shown in lists. Default: made of the prompt. */
  readonly title?: string;
  /** A git worktree of its own, of the repository in `cwd` or in the employee's folder. */
  readonly worktree?: boolean;
  /** A worker of another machine, by its name. */
  readonly worker?: string;
  /** Any worker that has all of these labels. */
  readonly labels?: string[];
  /** What its agent may do without permission: nothing, change files in its folder, all. */
  readonly permissions?: 'ask' | 'edits' | 'full';
  /** See `EventsOptions`. */
  readonly giveUpAfterMs?: number;
}

/** A piece of an answer as it is produced, or an activity of the agent. */
export interface Delta {
  /**
   * `rate-limited`: the turn is held until `resetAt`, for the reason in `content`. `permission`: a tool request
   * awaits a decision, or was decided. The others come from the engine.
   */
  readonly type:
    | 'text'
    | 'thinking'
    | 'tool_use'
    | 'tool_result'
    | 'status'
    | 'error'
    | 'rate-limited'
    | 'permission';
  /** Of `text` and `thinking` the piece itself; else a line for a person. */
  readonly content: string;
  /** Of `text`: its place in the text of the turn, in UTF-16 units. A piece that was missed leaves a hole. */
  readonly offset?: number;
  /** Of tool events: the engine's own name of the tool. */
  readonly toolName?: string;
  /** Of tool events: the same for the use and its result. */
  readonly toolId?: string;
  /** Epoch milliseconds. */
  readonly resetAt?: number;
  /** Of `permission`: `pending`, then how it was decided. */
  readonly state?: string;
  /** Of `permission`: what a decision names. */
  readonly permissionId?: string;
}

/**
 * One turn of a session: `for await (const { type, content } of run)` streams it, `await run.answer()` is what
 * is stored of it. It goes on when no one reads, and after this program has ended.
 */
export interface Run extends AsyncIterable<Delta> {
  /** The session whose turn it is, for `attach` and for another `run`. */
  readonly sessionId: string;
  /**
   * Waits for the end of the turn.
   * @example const { status, text } = await run.answer(); // 'idle' 'Added TRP-1: buy milk.'
   */
  answer(): Promise<TurnAnswer>;
  /** Stop reading; the turn goes on. */
  close(): void;
}

/** How a turn ended and what is stored of it. */
export interface TurnAnswer {
  /** `idle` after a success; else `error`, `interrupted`, `stopped`, `waiting` or `deleted`. */
  readonly status: string;
  /** The whole answer; empty where there is none. */
  readonly text: string;
  /** What went wrong. */
  readonly error: string | null;
}

/** Why a task is not taken: an unknown engine or session, a full queue, a missing credential … */
export type RunRefusal = RefusalOf<'/api/sessions', 'post'> | RefusalOf<'/api/sessions/{id}/message', 'post'>;

/**
 * Opens a session, or continues one, and follows the turn. The feed is open before the task is given: no
 * frame is missed.
 */
export async function startRun(
  requests: Requests,
  openEvents: (options: EventsOptions) => Events,
  prompt: string,
  { session, idempotencyKey, timeoutMs, signal, giveUpAfterMs, ...choice }: RunSettings,
): Promise<Run | RunRefusal> {
  const settings = {
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(signal && { signal }),
  };
  const events = openEvents(eventsOf(signal, giveUpAfterMs));
  try {
    await opened(requests, events, giveUpAfterMs);
    const given =
      session === undefined
        ? await requests.post('/api/sessions', { ...settings, body: { prompt, ...choice } })
        : await requests.post('/api/sessions/{id}/message', {
            ...settings,
            params: { path: { id: session } },
            body: { message: prompt },
          });
    if (isRefusal(given)) {
      events.close();
      return given as RunRefusal;
    }
    const sessionId = 'sessionId' in given && session !== undefined ? session : String((given as Session).id);
    // An engine that is not there fails the session before anything could start
    const isStillborn = session === undefined && given.status === 'error';
    const begun = isStillborn ? 'over' : session === undefined ? 'waiting' : 'queued';
    return followTurn(requests, events, sessionId, begun);
  } catch (error) {
    events.close();
    throw error;
  }
}

/** Follows the turn that runs, from now on. */
export async function attachRun(
  requests: Requests,
  openEvents: (options: EventsOptions) => Events,
  sessionId: string,
  { signal, giveUpAfterMs }: Pick<RunSettings, 'signal' | 'giveUpAfterMs'>,
): Promise<Run | RefusalOf<'/api/sessions/{id}', 'get'>> {
  const events = openEvents(eventsOf(signal, giveUpAfterMs));
  try {
    await opened(requests, events, giveUpAfterMs);
    const session = await requests.get('/api/sessions/{id}', {
      params: { path: { id: sessionId }, query: { messages: '0' } },
    });
    if (!isRefusal(session))
      return followTurn(requests, events, sessionId, session.status === 'running' ? 'started' : 'over');
    events.close();
    return session as RefusalOf<'/api/sessions/{id}', 'get'>;
  } catch (error) {
    events.close();
    throw error;
  }
}

/**
 * The feed waits for a gateway that is away. One that does not answer at the first word is a wrong address more often
 * than a restart: who would wait for it says for how long.
 */
async function opened(requests: Requests, events: Events, giveUpAfterMs: number | undefined): Promise<void> {
  await (giveUpAfterMs === undefined ? Promise.all([events.open, requests.get('/api/status')]) : events.open);
}

const eventsOf = (signal: AbortSignal | undefined, giveUpAfterMs: number | undefined): EventsOptions => ({
  kinds: ['session'],
  ...(signal && { signal }),
  ...(giveUpAfterMs !== undefined && { giveUpAfterMs }),
});

function followTurn(
  requests: Requests,
  events: Events,
  sessionId: string,
  begun: 'waiting' | 'queued' | 'started' | 'over',
): Run {
  const waiting: Delta[] = [];
  let wake = (): void => undefined;
  let isOver = false;
  let messageId: unknown;
  let turnId: unknown;
  const ended = (begun === 'over' ? Promise.resolve() : watch()).finally(() => {
    isOver = true;
    events.close();
    wake();
  });
  ended.catch(() => undefined); // who waits for the answer or reads on hears of it

  /**
   * A turn ends with the first ending that follows its own start: what the one before it still has to say is
   * not its answer. Of a session that is continued, the turn before may begin and end meanwhile: what was given
   * is over when nothing of the session is left to do.
   */
  async function watch(): Promise<void> {
    let hasStarted = begun === 'started';
    for await (const { event, payload } of events) {
      if (event === 'reset') {
        if (await isResting()) return;
        hasStarted = true; // perhaps: what began meanwhile is not told
      } else if (payload['sessionId'] !== sessionId) continue;
      else if (event === 'session:started') {
        hasStarted = true;
        turnId = payload['turnId'];
      } else if (event === 'session:delta') {
        // The last words of the turn before: its agent may speak on while it is ended, and the next one has begun
        if (begun === 'queued' && !hasStarted) continue;
        if (!isOf(turnId, payload)) continue;
        messageId = payload['messageId'];
        put(deltaOf(payload));
      } else if (event === 'session:permission')
        put(deltaOf({ ...payload, type: 'permission', content: payload['tool'] }));
      else if (event === 'session:rate-limited')
        put(deltaOf({ ...payload, type: 'rate-limited', content: payload['reason'] ?? '' }));
      else if (!endings.has(event)) continue;
      else if (begun === 'queued') {
        if (final.has(event) || (await isResting())) return;
      } else if (hasStarted || event !== 'session:completed') return;
    }
  }

  /** The log no longer holds how the turn went: ask whether it is over. */
  async function isResting(): Promise<boolean> {
    const now = await requests.get('/api/sessions/{id}', {
      params: { path: { id: sessionId }, query: { messages: '0' } },
    });
    return isRefusal(now) || (now.status !== 'running' && now.queueDepth === 0);
  }

  function put(delta: Delta): void {
    waiting.push(delta);
    wake();
  }

  return {
    sessionId,
    close: () => events.close(),
    async answer() {
      await ended;
      const session = await requests.get('/api/sessions/{id}', {
        params: { path: { id: sessionId }, query: { last: '20' } },
      });
      if (isRefusal(session)) return { status: 'deleted', text: '', error: (session as Refusal).message };
      const { status, lastError, messages = [] } = session;
      const own = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
      const found =
        messages.find(({ id }) => id === messageId) ?? own.findLast(({ role }) => role === 'assistant');
      return { status, text: found?.content ?? '', error: lastError };
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const delta = waiting.shift();
        if (delta !== undefined) yield delta;
        else if (isOver) return await ended;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

/** Of that turn, or of one that is not known. Messages of a turn are named for it, also those of its tools. */
const isOf = (turnId: unknown, { messageId }: GatewayEvent['payload']): boolean =>
  typeof turnId !== 'string' || typeof messageId !== 'string' || messageId.startsWith(`${turnId}:`);

const endings = new Set<GatewayEvent['event']>([
  'session:completed',
  'session:interrupted',
  'session:stopped',
  'session:deleted',
]);

/** After these nothing that was queued is done. */
const final = new Set<GatewayEvent['event']>(['session:stopped', 'session:deleted']);

/** As the gateway's document promises. */
const deltaOf = (payload: GatewayEvent['payload']): Delta =>
  ({ type: 'status', content: '', ...payload }) as Delta;
