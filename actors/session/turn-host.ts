import { redactor } from '../../machines/redact.js';
import { resolvedUse } from '../engines/agent/tool-use.js';
import type { Engine, PermissionAnswer, TurnIO, TurnRequest, TurnResult } from '../engines/engine.js';
import {
  boundedQuestion,
  boundedReport,
  type Redact,
  type TurnCommand,
  type TurnEvent,
  type TurnReport,
} from '../engines/turn-events.js';
import { boundedResult, failure, sentence } from './turn-outcome.js';
import { createTextMask, secretsIn } from './turn-secrets.js';
import { createSpawner, type SpawnerOptions } from './turn-spawner.js';

/**
 * Where an engine's turn runs: on the machine of its processes, which need not be the gateway's. The engine is
 * given functions and a signal; what leaves here is numbered events, what comes in is commands. Nothing that an
 * engine does wrong (throws, rejects, never settles, leaves processes behind) keeps the last event from coming.
 *
 * Values of keys that its processes were given never leave.
 */
export interface TurnHost {
  take(command: TurnCommand): void;
  /** What was read in the turn's folder, without the values of keys that its processes were given. */
  redact<Value>(read: Value): Value;
}

export interface TurnHostOptions {
  readonly engine: Engine;
  readonly request: TurnRequest;
  /** How its programs are started on this machine. */
  readonly processes: Omit<SpawnerOptions, 'signal' | 'note' | 'onSilence'>;
  /** Takes out what nothing may hold, beside the keys of its own processes. */
  readonly redact?: Redact | undefined;
  /** How long the engine may take to settle after it was interrupted. */
  readonly settleMs: number;
  readonly onFault: (engine: string, error: unknown) => void;
  readonly post: (event: TurnEvent) => void;
}

/** `const turn = hostTurn({engine, request, …, post: (event) => …}); turn.take({type: 'interrupt'})` */
export function hostTurn(options: TurnHostOptions): TurnHost {
  const { engine, request, settleMs, onFault } = options;
  const abort = new AbortController();
  const acknowledged = new Map<number, (fault: string | undefined) => void>();
  const asked = new Map<string, (answer: PermissionAnswer) => void>();
  const secrets = new Set<string>();
  const redactAlways: Redact = options.redact ?? ((value) => value);
  let redact: Redact = redactAlways;
  const masks = { text: createTextMask(secrets), thinking: createTextMask(secrets) };
  let seq = 0;
  let questions = 0;
  let isOver = false;

  function hide(env: Readonly<Record<string, string>>): void {
    for (const secret of secretsIn(env)) secrets.add(secret);
    const redactOwn = redactor([...secrets]);
    redact = (value) => redactOwn(redactAlways(value));
  }

  function post(event: Unnumbered): void {
    if (!isOver) options.post({ seq: (seq += 1), ...redact(event) });
  }

  /** Posts what must be stored before anything goes on. */
  function stored(event: Unnumbered): Promise<void> {
    if (isOver) return Promise.reject(new Error('The turn is over.'));
    return new Promise((resolve, reject) => {
      acknowledged.set(seq + 1, (fault) => (fault === undefined ? resolve() : reject(new Error(fault))));
      post(event);
    });
  }

  function report(given: TurnReport): void {
    const bounded = boundedReport(given, redact);
    if (bounded === undefined) return;
    if (bounded.type !== 'text' && bounded.type !== 'thinking') {
      flush();
      return post(bounded);
    }
    const text = masks[bounded.type].take(bounded.text);
    if (text !== '') post({ type: bounded.type, text });
  }

  /** What was held back because a key might begin in it. */
  function flush(): void {
    for (const type of ['thinking', 'text'] as const) {
      const text = masks[type].rest();
      if (text !== '') post({ type, text });
    }
  }

  const spawner = createSpawner({
    ...options.processes,
    signal: abort.signal,
    note: (note) => stored({ type: 'process.noted', note: { ...note } }),
    onSilence: () =>
      report({
        type: 'notice',
        text: 'The engine has been silent for a while; it may be waiting for a rate limit.',
      }),
  });
  const io: TurnIO = {
    signal: abort.signal,
    report,
    spawn(command, args, given) {
      hide(given.env);
      return spawner.spawn(command, args, given);
    },
    async permission(question) {
      const uses = await resolvedUse(question.uses, request.cwd);
      if (abort.signal.aborted || isOver) return { allow: false, message: 'The turn ended.' };
      flush();
      const permissionId = `p${(questions += 1)}`;
      const bounded = boundedQuestion(question, redact);
      return new Promise((resolve) => {
        asked.set(permissionId, resolve);
        post({
          type: 'permission.asked',
          permissionId,
          ...bounded,
          ...(uses === undefined ? {} : { uses }),
        });
      });
    },
  };

  async function run(): Promise<void> {
    let result: TurnResult;
    let unconfirmedPid: number | undefined;
    try {
      // the fence: from here on a crash means "recover", also for engines that start no process
      await spawner.intend();
      result = await played(engine, request, io, { settleMs, onFault, redact: (said) => redact(said) });
      unconfirmedPid = await spawner.close(() => abort.abort());
    } catch (error) {
      if (!abort.signal.aborted) onFault(engine.name, error);
      result = failure(`The turn could not be run: ${sentence(error)}`);
    }
    flush();
    post({ type: 'turn.ended', result, ...(unconfirmedPid === undefined ? {} : { unconfirmedPid }) });
    isOver = true;
  }
  hide(request.env);
  void Promise.resolve().then(run); // anyone who starts it must have it before the first event

  return {
    redact: (read) => redact(read),
    take(command) {
      switch (command.type) {
        case 'interrupt':
          for (const settle of asked.values()) settle({ allow: false, message: 'The turn ended.' });
          return abort.abort();
        case 'decide': {
          const { permissionId, decision, message } = command;
          asked.get(permissionId)?.(
            decision === 'allow' ? { allow: true } : { allow: false, message: message ?? 'It was denied.' },
          );
          return void asked.delete(permissionId);
        }
        case 'acknowledge':
          acknowledged.get(command.seq)?.(command.fault);
          return void acknowledged.delete(command.seq);
      }
    },
  };
}

type Unnumbered = TurnEvent extends infer Event
  ? Event extends TurnEvent
    ? Omit<Event, 'seq'>
    : never
  : never;

/** The engine's own turn; never rejects and never hangs after an abort. */
async function played(
  engine: Engine,
  request: TurnRequest,
  io: TurnIO,
  { settleMs, onFault, redact }: Pick<TurnHostOptions, 'settleMs' | 'onFault'> & { readonly redact: Redact },
): Promise<TurnResult> {
  const { signal } = io;
  let timer: NodeJS.Timeout | undefined;
  let arm: () => void = () => undefined;
  const abandoned = new Promise<TurnResult>((resolve) => {
    arm = () => {
      timer = setTimeout(
        () => resolve(failure(`Engine "${engine.name}" did not end after it was asked to stop.`)),
        settleMs,
      );
    };
    if (signal.aborted) arm();
    else signal.addEventListener('abort', arm, { once: true });
  });
  const working = (async () => boundedResult(engine.name, await engine.turn(request, io), redact))();
  try {
    return await Promise.race([working, abandoned]);
  } catch (error) {
    if (!signal.aborted) onFault(engine.name, error);
    return failure(`Engine "${engine.name}" failed: ${sentence(error)}`);
  } finally {
    signal.removeEventListener('abort', arm);
    clearTimeout(timer);
    working.catch(() => undefined); // an abandoned engine may still reject, much later
  }
}
