import type { LogEntry, ProgressFrame, Supervisor } from '../../supervisor/contract.js';
import type { ActorKey, Json } from '../../../machines/outputs.js';
import { frameOfText } from './text-frame.js';

/**
 * Log entries → frames for watchers. The frames of one commit share the position of its last entry, and the
 * last of them says so: a client that moves its cursor only there can resume without gap or repetition.
 */
export interface Frame {
  readonly seq: number | null;
  readonly event: string;
  readonly payload: unknown;
  /** Epoch ms. */
  readonly ts: number;
  readonly last?: true;
}

/** What is told of an entry of the log: entries are large, and what is told is kept for a while. */
export interface Reported extends ActorKey {
  readonly at: number;
  readonly frames: LogEntry['frames'];
}

/** `frameText({seq: 7, event: 'session:stopped', payload: {…}, ts, last: true})` → one line of JSON. */
export const frameText = (frame: Frame): string => JSON.stringify(frame);

const streamed = new WeakMap<ProgressFrame, Buffer>();

/** What has no position, as it goes over the wire; made once for all sockets. */
export function progressWire(frame: ProgressFrame): Buffer {
  let wire = streamed.get(frame);
  if (wire === undefined) {
    const { event, payload, at } = frame;
    wire = frameOfText(frameText({ seq: null, event, payload, ts: at }));
    streamed.set(frame, wire);
  }
  return wire;
}

/** What is under way and has no position, as much as came together. */
export interface Progress {
  readonly frames: readonly ProgressFrame[];
  /** All of them as they go over the wire. */
  readonly wire: Buffer;
}

/** The frames of a whole commit, of those entries that `visible` lets through. */
export function framesOf(
  commit: readonly Reported[],
  seq: number,
  visible: (entry: Reported) => boolean,
): string[] {
  const shown = commit.filter(visible);
  const made = shown.flatMap((entry) => entryTexts(entry, seq));
  const final = made.at(-1);
  if (final !== undefined) made[made.length - 1] = `${final.slice(0, -1)},"last":true}`;
  return made;
}

const texts = new WeakMap<Reported, readonly string[]>();

/** The frames of one entry of the commit that ends at `seq`; written down once, however many watch. */
export function entryTexts(entry: Reported, seq: number): readonly string[] {
  const known = texts.get(entry);
  if (known) return known;
  const value = valueOf(entry);
  const made = entry.frames.map(({ event, payload }) => {
    const whole =
      event === 'company:changed' && value !== undefined ? { ...(payload as object), value } : payload;
    return frameText({ seq, event, payload: whole, ts: entry.at });
  });
  texts.set(entry, made);
  return made;
}

/** Where the log begins and ends for one who asked for something below the retention floor. */
export interface Reset {
  readonly floor: number;
  readonly head: number;
}

/** What the kernel says then; undefined: another entry. */
export function resetIn({ event }: LogEntry): Reset | undefined {
  const said = event as (Reset & { readonly type?: unknown }) | null;
  return said?.type === 'reset' ? { floor: said.floor, head: said.head } : undefined;
}

/**
 * What a watcher of `/ws` is told of, by name: for the OpenAPI document, which says it to the one who writes a
 * client. A frame that is announced somewhere and not listed here is found by the house's own spec.
 */
export const frameNames: Readonly<Record<string, string>> = {
  'session:created': 'A session was opened. {sessionId, employee, title, parentSessionId}',
  'session:started': 'A turn began. {sessionId, turnId}',
  'session:delta':
    'A piece of an answer as it is produced, or an activity of the agent; has no position, never ' +
    'replayed. Of a turn it may still come when the next one began: `messageId` begins with `<turnId>:`. ' +
    '{sessionId, messageId, type, content, offset?, toolName?, toolId?}',
  'session:completed': 'A turn ended, successfully or not. {sessionId, employee, title, result, error}',
  'session:interrupted': 'A turn was interrupted. {sessionId, reason}',
  'session:silent':
    'Nothing has come from its turn for `sessions.silenceMinutes`. {sessionId, turnId, since}',
  'session:resumed': 'An interrupted or stopped session resumed. {sessionId}',
  'sessions:interrupted':
    'Once after a start that found interrupted turns, when all are settled: the number of ' +
    'sessions, and as many of them as fit. {count, sessions: [{id, engine, employee, title, ' +
    'lastActivity}]}',
  'session:rate-limited':
    "The provider's limit or the employee's budget was reached; the turn is held. {sessionId, resetAt, reason}",
  'session:stopped': 'The session was stopped. {sessionId, reason}',
  'session:updated': 'Another property of the session changed; read it again. {sessionId}',
  'session:deleted': '{sessionId}',
  'session:notification': 'A callback or a message of another agent arrived. {sessionId, message, meta}',
  'session:attachment': 'A file was attached. {sessionId, id, content, media, timestamp}',
  'session:external-turn': "Messages from the agent's own program were imported. {sessionId, messages}",
  'session:permission':
    'A tool request awaits a decision, or was decided. {sessionId, permissionId, tool, title, expiresAt, ' +
    'rule, state}',
  'decision:held':
    'A person decided something that waits; it can be withdrawn until it is carried out. {decisionId, kind, ' +
    'id, waitingId, decision, until, reason}',
  'decision:withdrawn': 'The same members. It was not carried out.',
  'decision:carried-out': 'The same members.',
  'decision:refused': 'The same members; `reason` says why it was not carried out.',
  'queue:updated': '{sessionId, sessionKey, depth, paused}',
  'company:changed':
    'A todo, definition, run or trigger changed. {entity: todo | workflow-definition | ' +
    'workflow-run | workflow-trigger, action, id, version?, workflowId?, runId?, value? (the whole todo)}',
  'run:started': '{runId, workflowId, title, source, queued}',
  'run:step': 'Steps of a run moved. {runId, workflowId, rounds, settled, steps}',
  'run:running': 'A queued run started. {runId, workflowId, status, rounds}',
  'run:parked': 'A run was parked at a gate. {runId, workflowId, status, rounds}',
  'run:resumed': 'Its gate was decided. {runId, workflowId, status, rounds}',
  'run:completed': '{runId, workflowId, status, rounds}',
  'run:failed': '{runId, workflowId, status, rounds}',
  'run:cancelled': '{runId, workflowId, status, rounds}',
  'cron:reloaded': 'A job was created, changed or deleted. {id, action}',
  'cron:started': 'A run of a job began. {id, sessionKey, status}',
  'cron:completed': 'A run of a job succeeded. {id, sessionKey, status}',
  'cron:error': 'A run of a job did not succeed. {id, sessionKey, status}',
  'cron:missed': 'A scheduled time passed while the gateway was not running. {id, sessionKey, status}',
  'connector:updated': '{connector, status, detail}',
  'connector:delivery': 'The outcome of a message. {connector, deliveryId, outcome, reason, messageId}',
  'connectors:reloaded': '{started, stopped, errors}',
  'org:updated': 'An employee was changed over HTTP. {employee}',
  'org:changed': 'The organisation changed; read it again. {}',
  'skills:updated': 'A skill was replaced or removed over HTTP. {name}',
  'skills:changed': 'The skills changed; read them again. {}',
  'file:uploaded': '{id, filename, size, sessionId}',
  'file:deleted': '{id, filename, size, sessionId}',
  'engines:updated': 'The capabilities or the provider limits of an engine changed; read them again. {}',
  'budget:warning':
    'An employee has used 80 or 100 % of the monthly budget. {employee, month, spentUsd, ' +
    'limitUsd, grantedUsd, percent}',
  'budget:granted': '{employee, month, spentUsd, limitUsd, grantedUsd, usd}',
  'config:reloaded': 'config.yaml was reloaded. {applied, needsRestart, needsReload}',
  'config:refused': 'config.yaml changed and is invalid; the previous settings stay in effect. {reason}',
  'backup:made': 'A backup by schedule was made and restored on trial. {target, seq, newBytes}',
  'backup:failed': 'A backup by schedule could not be made, or not be restored on trial. {to, reason}',
  'backup:off': 'Backups failed, and are no longer made: backup.to was taken out of config.yaml. {}',
  'device:paired': '{id, name, kind}',
  'device:revoked': '{id}',
  'system:status': 'The gateway is running, degraded or draining. {status, reasons}',
  refusal: 'An event was refused; has no position, never replayed. {event, code, message}',
  cursor:
    'A position that a client may resume from: first of all where it begins, then every five seconds how ' +
    'far it has come. A frame of `{event, seq, payload: {}}`.',
  reset: 'The requested entries are no longer in the log: read everything again. {floor, head}',
  pong: 'The answer to `{"event": "ping"}`.',
  error: 'Invalid frame from the client. {error, code}',
};

/**
 * Work items come whole with `company:changed`, as they stand when the commit is handed on: clients show them
 * without a second request. The log itself keeps only what changed.
 */
export async function addValues(supervisor: Supervisor, entries: readonly Reported[]): Promise<void> {
  for (const entry of entries) {
    if (entry.kind !== 'work-item' || !entry.frames.some(({ event }) => event === 'company:changed'))
      continue;
    const item = await supervisor.get('work-item', entry.id);
    if (item !== undefined) values.set(entry, item.view);
  }
}

const values = new WeakMap<Reported, Json>();

/** The work item that changed with an entry; undefined: it is gone, or another kind of actor. */
const valueOf = (entry: Reported): Json | undefined => values.get(entry);
