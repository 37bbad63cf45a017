import type { Answer } from './requests.js';

/**
 * How a thing that waits is decided: which route takes it, and what it is given. Command line, console, inspector
 * and notifications all read it here.
 */

/** A row of `GET /api/attention`. */
export type WaitingThing = Answer<'/api/attention', 'get'>['waiting'][number];

/** `again`: of a message, to send it once more. */
export type Choice = 'approve' | 'reject' | 'escalate' | 'again';

export interface DecisionWords {
  readonly note?: string | undefined;
  /** Dollars more for this month, where a budget is asked for. */
  readonly usd?: number | undefined;
  /** Of a tool: keep the rule that it stands for, or the one that is given. */
  readonly always?: boolean | string | undefined;
}

/** `{path: '/api/work-items/ACM-1/approval', body: {decision: 'approve'}}`: to be posted. */
export interface DecisionRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

type Decided = Pick<WaitingThing, 'what' | 'id' | 'waitingId' | 'within'>;

/** Which choices there are: some things wait for something else than a yes or a no. */
export const choicesOf = ({ what }: Pick<WaitingThing, 'what'>): readonly Choice[] => choices[what] ?? [];

const choices: Readonly<Record<string, readonly Choice[]>> = {
  permission: ['approve', 'reject'],
  version: ['approve', 'reject'],
  trust: ['approve', 'reject'],
  approval: ['approve', 'reject', 'escalate'],
  gate: ['approve', 'reject', 'escalate'],
  activation: ['approve', 'reject', 'escalate'],
  budget: ['approve'],
  resume: ['approve'],
  silent: ['reject'],
  connector: ['approve'],
  notification: ['approve'],
  'unknown-delivery': ['approve', 'again', 'reject'],
  delivery: ['again', 'reject'],
};

/** The word of a choice, and of a choice that was made: `['Allow', 'Allowed']`. */
export function wordsOf(
  { what }: Pick<WaitingThing, 'what'>,
  choice: Choice,
): readonly [now: string, done: string] {
  if (choice === 'escalate') return ['Escalate', 'Escalated'];
  if (choice === 'again') return ['Send again', 'Sent again'];
  if (what === 'unknown-delivery' && choice === 'approve') return ['It arrived', 'Arrived'];
  if (/delivery$/.test(what)) return ['Give up', 'Given up'];
  if (what === 'permission') return choice === 'approve' ? ['Allow', 'Allowed'] : ['Deny', 'Denied'];
  if (what === 'budget') return ['Grant', 'Granted'];
  if (what === 'resume') return ['Resume', 'Resumed'];
  if (what === 'silent') return ['Stop', 'Stopped'];
  if (what === 'connector' || what === 'notification') return ['Try now', 'Tried'];
  return choice === 'approve' ? ['Approve', 'Approved'] : ['Reject', 'Rejected'];
}

/**
 * What to post. A polling program is decided by the hash that its row was listed with: one that has changed since is
 * refused.
 * @example decisionRequest(thing, 'approve', { note: 'Go on.' }) // { path: '/api/sessions/s1/permissions/…', body }
 */
export function decisionRequest(
  thing: Decided,
  choice: Choice,
  words: DecisionWords = {},
): DecisionRequest | undefined {
  if (!choicesOf(thing).includes(choice)) return undefined;
  const { what, waitingId, within = '' } = thing;
  const own = encodeURIComponent(thing.id);
  const { always } = words;
  const said = words.note === undefined || words.note === '' ? undefined : words.note;
  const note = said === undefined ? {} : { note: said };
  const reason = said === undefined ? {} : { reason: said };
  const escalates = choice === 'escalate';
  const run = `/api/workflow-definitions/${encodeURIComponent(within)}/runs/${own}`;
  const activation = `/api/workflow-triggers/${own}/activation-approval`;
  switch (what) {
    case 'permission':
      return {
        path: `/api/sessions/${own}/permissions/${encodeURIComponent(waitingId)}`,
        body: {
          decision: choice === 'approve' ? 'allow' : 'deny',
          ...(always === undefined || always === false ? {} : { always: true }),
          ...(typeof always === 'string' ? { rule: always } : {}),
          ...note,
        },
      };
    case 'approval':
      return escalates
        ? { path: `/api/work-items/${own}/approval/escalate`, body: reason }
        : { path: `/api/work-items/${own}/approval`, body: { decision: choice, ...note } };
    case 'gate':
      return escalates
        ? { path: `${run}/gate-approval/escalate`, body: reason }
        : { path: `${run}/resolve-gate`, body: { decision: choice, gateKey: waitingId, ...note } };
    case 'activation':
      return escalates
        ? { path: `${activation}/escalate`, body: reason }
        : { path: activation, body: { decision: choice, activationContractHash: waitingId, ...note } };
    case 'version':
      return {
        path: '/api/workflow-approvals',
        body: { decision: choice, versions: [{ workflowId: thing.id, version: Number(waitingId) }] },
      };
    case 'trust':
      return {
        path: '/api/trust',
        body: {
          folder: within,
          decision: choice === 'approve' ? 'trust' : 'dismiss',
          sha256: waitingId.slice(waitingId.lastIndexOf(':') + 1),
        },
      };
    case 'delivery':
    case 'unknown-delivery':
      return {
        path: `/api/connectors/${own}/deliveries/${encodeURIComponent(deliveryIdOf(waitingId))}/settle`,
        body: { choice: deliveryChoice[choice], waitingId },
      };
    case 'resume':
      return { path: `/api/sessions/${own}/resume`, body: {} };
    case 'silent':
      return { path: `/api/sessions/${own}/stop`, body: reason };
    case 'connector':
      return sent('connector', own, 'connector.start');
    case 'notification':
      return sent('notifier', own, 'notifier.retry');
    case 'budget':
      return words.usd === undefined
        ? undefined
        : { path: `/api/org/employees/${own}/budget`, body: { usd: words.usd, ...note } };
    default:
      return undefined;
  }
}

/**
 * The message of which a try waits.
 * @example deliveryIdOf('d-1~1700000000000') // 'd-1'
 */
export const deliveryIdOf = (waitingId: string): string => waitingId.replace(/~\d+$/, '');

const deliveryChoice = { approve: 'arrived', again: 'send-again', reject: 'give-up', escalate: '' } as const;

/** An event that a person may send to an actor of a kind. */
const sent = (kind: string, id: string, type: string): DecisionRequest => ({
  path: `/api/inspect/actors/${kind}/${id}/send`,
  body: { event: { type } },
});

/** Of versions many may be decided in one request: what became of each stands in the answer, refusals too. */
export function refusalIn(answer: unknown): string | undefined {
  const { outcomes } = (answer ?? {}) as { readonly outcomes?: readonly { code?: string; error?: string }[] };
  const refused = outcomes?.find(({ code }) => code !== undefined);
  return refused?.error ?? refused?.code;
}

interface ShownMessage {
  readonly toolCall?: unknown;
  readonly meta?: unknown;
}

/**
 * The tool that runs, as far as the messages tell; undefined: none does, so it is the model that is awaited.
 * @example runningTool(session.messages) // 'Bash'
 */
export function runningTool(messages: readonly ShownMessage[]): string | undefined {
  const running = messages.findLast(({ meta }) => {
    const { kind, state } = (meta ?? {}) as { readonly kind?: unknown; readonly state?: unknown };
    return kind === 'tool' && state === 'running';
  });
  return typeof running?.toolCall === 'string' ? running.toolCall : undefined;
}

/** @example `no output for 12 min: ${quietBecause('Bash')}` // 'Bash has not ended' */
export const quietBecause = (tool: string | undefined): string =>
  tool === undefined ? 'no tool runs, its model says nothing' : `${tool} has not ended`;
