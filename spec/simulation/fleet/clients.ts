import type { App } from '../../../lib/commands/app.js';
import type { Reply, Request } from '../../../lib/commands/request.js';
import { reloadConnectors, sendThrough } from '../../../lib/commands/connectors.js';
import { createJob, deleteJob, editJob, triggerJob } from '../../../lib/commands/cron.js';
import { withdrawDecision } from '../../../lib/commands/held-decisions.js';
import { addComment } from '../../../lib/commands/work-items/annotate-work-item.js';
import { decideApproval, requestApproval } from '../../../lib/commands/work-items/approvals.js';
import { createWorkItem } from '../../../lib/commands/work-items/create-work-item.js';
import { openSession } from '../../../lib/commands/sessions/open-session.js';
import { postMessage } from '../../../lib/commands/sessions/post-message.js';
import { stopSession } from '../../../lib/commands/sessions/stop-session.js';
import { startRun } from '../../../lib/commands/workflow-runs/start-run.js';
import { cancelRun, resolveGate } from '../../../lib/commands/workflow-runs/steer-run.js';
import { askActor } from '../../../lib/commands/request.js';
import { operator } from '../../../machines/caller.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import type { Machine, SimulatedProcess } from '../machine.js';
import type { Behaviour } from '../kinds.js';
import { pigeon, type Loft } from './loft.js';
import { happen } from './bindings.js';
import { heldBody, postOf } from './people.js';

export const fleetOperations = [
  'open',
  'open',
  'open',
  'post',
  'post',
  'post',
  'post',
  'post',
  'permit',
  'permit',
  'stop',
  'pause',
  'continue',
  'item',
  'item',
  'move',
  'move',
  'move',
  'comment',
  'comment',
  'request',
  'decide',
  'run',
  'run',
  'gate',
  'gate',
  'cancel',
  'archive',
  'hold',
  'hold',
  'hold',
  'hold',
  'withdraw',
  'withdraw',
] as const;
/** Of cron jobs and of a connector, less often: each sets off much. */
export const farOperations = [
  'job',
  'send',
  'letter',
  'trigger',
  'send',
  'letter',
  'reload',
  'unjob',
  'letter',
  'enable',
  'happen',
] as const;
export type FleetOperation = (typeof fleetOperations | typeof farOperations)[number];

/** What a client knows of what it asked for. */
export interface Operation {
  readonly id: string;
  readonly operation: FleetOperation;
  readonly behaviour: Behaviour;
  /** Of the actor that it is done to. */
  readonly whom: string | undefined;
  /** `done`: acknowledged. */
  knowledge: 'unknown' | 'done' | 'refused';
  /** Of what came to be. */
  made?: string;
  /** Of a held decision: fixed when it is first asked for. */
  body?: Readonly<Record<string, unknown>> | undefined;
  readonly askedAt: number;
}

/** People who use a gateway: each of their requests has a key, and is made again where no one answered it. */
export class FleetClients {
  readonly operations = new Map<string, Operation>();
  readonly surprises: string[] = [];
  readonly unanswered = new Map<string, number>();
  acknowledged = 0;

  constructor(
    private readonly machine: Machine,
    private readonly loft: Loft,
  ) {}

  ask(
    app: App,
    process: SimulatedProcess,
    askedAt: number,
    how: Omit<Operation, 'id' | 'knowledge' | 'whom' | 'askedAt'>,
    who: number,
  ): void {
    const whom = this.known(targetOf[how.operation], who);
    if (targetOf[how.operation] !== undefined && whom === undefined) return;
    const one: Operation = {
      id: `${how.operation}${this.operations.size}`,
      ...how,
      whom,
      knowledge: 'unknown',
      askedAt,
    };
    this.operations.set(one.id, one);
    // Someone writes to the far side, which tells us when it can
    if (one.operation === 'letter') return this.loft.post(one.id, `<${one.id} ${one.behaviour}>`);
    void this.request(app, process, one);
  }

  /** Keys are kept for a day: so long it may be asked again, and is the same request. */
  again(app: App, process: SimulatedProcess, now: number): void {
    this.unanswered.clear();
    for (const one of this.operations.values())
      if (one.operation !== 'letter' && one.knowledge === 'unknown' && now - one.askedAt < 20 * 3_600_000)
        void this.request(app, process, one);
  }

  overdue(quietSince: number): string | undefined {
    for (const [id, since] of this.unanswered)
      // Who sends waits for the far side
      if (!/^(?:send|reload)/.test(id) && since > quietSince && this.machine.now - since > answeredWithin)
        return id;
    return undefined;
  }

  /** One of the newest of their kind. */
  private known(kind: Target | undefined, who: number): string | undefined {
    if (kind === undefined) return undefined;
    const made = [...this.operations.values()].filter(
      (one) => one.operation === kind && one.made !== undefined,
    );
    return made.at(-1 - (who % Math.max(1, Math.min(3, made.length))))?.made;
  }

  private async request(app: App, process: SimulatedProcess, one: Operation): Promise<void> {
    this.unanswered.set(one.id, this.machine.now);
    try {
      const answer = await say(app, one);
      if (!process.alive) return;
      if (isRefusal(answer) && mayBeAskedAgain.has(answer.code)) return;
      if (answer === undefined || isRefusal(answer)) {
        one.knowledge = 'refused';
        return;
      }
      one.knowledge = 'done';
      this.acknowledged += 1;
      const { body } = answer as Reply<{ id?: string; decision?: { id: string } }>;
      const id = one.operation === 'hold' ? body.decision?.id : body.id;
      if (['open', 'item', 'run', 'job', 'hold'].includes(one.operation) && typeof id === 'string')
        one.made = id;
    } catch (error) {
      if (!process.alive) return;
      const { code } = error as { code?: string };
      if (code === 'STORE_UNAVAILABLE' || code === 'OUTCOME_UNKNOWN') return;
      this.surprises.push(`${one.id}: ${error instanceof Error ? String(error.stack) : String(error)}`);
    } finally {
      if (process.alive) this.unanswered.delete(one.id);
    }
  }
}

type Target = 'open' | 'item' | 'run' | 'job' | 'hold';
const targetOf: Readonly<Record<FleetOperation, Target | undefined>> = {
  open: undefined,
  post: 'open',
  permit: 'open',
  stop: 'open',
  pause: 'open',
  continue: 'open',
  item: undefined,
  move: 'item',
  comment: 'item',
  request: 'item',
  decide: 'item',
  archive: 'item',
  run: undefined,
  gate: 'run',
  cancel: 'run',
  job: undefined,
  trigger: 'job',
  unjob: 'job',
  enable: 'job',
  send: undefined,
  letter: undefined,
  reload: undefined,
  hold: undefined,
  withdraw: 'hold',
  happen: undefined,
};

/** What the routes answer where the store cannot write, or no one knows whether it did. */
const mayBeAskedAgain: ReadonlySet<string> = new Set(['STORE_UNAVAILABLE', 'OUTCOME_UNKNOWN', 'BUSY']);

export const workflowId = 'fleet';
/** Runs at once. */
export const concurrency = 3;

/** Undefined: there was nothing to decide. */
async function say(app: App, one: Operation): Promise<Reply | Refusal | undefined> {
  const { id, operation, behaviour, whom = '' } = one;
  const request: Request = {
    app,
    caller: operator,
    idempotency: { key: id, scope: 'client', hash: id },
  };
  const text = `<${id} ${behaviour}>`;
  const routed = Number(id.at(-1)) % 2 === 0 ? requestOf(one, text) : undefined;
  if (routed !== undefined) return postOf(app)(operator, ...routed, { key: id });
  switch (operation) {
    case 'open':
      return openSession(request, { prompt: text });
    case 'post':
      return postMessage(request, whom, text);
    case 'stop':
      return stopSession(request, whom, { descendants: true });
    case 'pause':
      return askActor(request, 'session', whom, { type: 'queue.pause' });
    case 'continue':
      return askActor(request, 'session', whom, { type: 'queue.resume' });
    case 'permit': {
      const permission = (await app.supervisor.get('session', whom))?.view.pendingPermissions[0];
      return permission === undefined
        ? undefined
        : askActor(request, 'session', whom, {
            type: 'permission.decided',
            permissionId: permission.id,
            decision: behaviour === 'good' ? 'allow' : 'deny',
          });
    }
    case 'item':
      return createWorkItem(request, { title: text });
    case 'move': {
      const statuses = ['assigned', 'executing', 'in_review', 'blocked', 'done'] as const;
      return askActor(request, 'work-item', whom, {
        type: 'item.move',
        status: statuses[one.id.charCodeAt(one.id.length - 1) % statuses.length]!,
      });
    }
    case 'comment':
      return addComment(request, whom, text);
    case 'request':
      return requestApproval(request, whom, { request: text });
    case 'decide':
      return decideApproval(request, whom, { decision: behaviour === 'good' ? 'approve' : 'reject' });
    case 'archive':
      return askActor(request, 'work-item', whom, { type: 'item.archive' });
    case 'run':
      return startRun(request, { workflowId, input: { say: text }, idempotencyKey: id });
    case 'gate': {
      const run = (await app.supervisor.get('workflow-run', whom))?.view;
      return run?.parked == null
        ? undefined
        : resolveGate(request, run, { decision: behaviour === 'good' ? 'approve' : 'reject' });
    }
    case 'cancel': {
      const run = (await app.supervisor.get('workflow-run', whom))?.view;
      return run === undefined ? undefined : cancelRun(request, run, undefined);
    }
    case 'job':
      return createJob(request, {
        id,
        name: id,
        prompt: text,
        schedule: '0 * * * *',
        timezone: 'UTC',
        missed: behaviour === 'slow' ? 'skip' : behaviour === 'good' ? 'all' : 'once',
        delivery: behaviour === 'good' ? { connector: pigeon, channel: 'jobs' } : null,
      });
    case 'trigger':
      return triggerJob(request, whom);
    case 'unjob':
      return deleteJob(request, whom);
    case 'enable':
      return editJob(request, whom, { enabled: behaviour !== 'slow' });
    case 'send':
      return sendThrough(request, pigeon, { channel: 'yard', text });
    case 'reload': {
      await reloadConnectors(app);
      return undefined;
    }
    case 'hold':
      one.body ??= await heldBody(app, behaviour === 'good' ? 'approve' : 'reject');
      return one.body && postOf(app)(operator, '/api/held-decisions', one.body, { key: id });
    case 'withdraw':
      return withdrawDecision(request, whom);
    case 'happen':
      return happen(app, id, behaviour !== 'good');
    case 'letter':
      return undefined;
  }
}

/** The same as the command below it, through the router. */
function requestOf(
  { operation, whom = '', behaviour }: Operation,
  text: string,
): readonly [path: string, body: Readonly<Record<string, unknown>>] | undefined {
  switch (operation) {
    case 'post':
      return [`/api/sessions/${whom}/message`, { message: text }];
    case 'stop':
      return [`/api/sessions/${whom}/stop`, {}];
    case 'comment':
      return [`/api/work-items/${whom}/comments`, { text }];
    case 'decide':
      return [`/api/work-items/${whom}/approval`, { decision: behaviour === 'good' ? 'approve' : 'reject' }];
    default:
      return undefined;
  }
}

const answeredWithin = 3_000_000;
