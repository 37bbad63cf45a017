import { Refused } from '../../page/ask.js';
import { client, must } from '../../page/gateway.js';
import { refreshWaiting, type Waiting } from './waiting.js';

/** What a person may answer to a thing that waits, and how the gateway takes it. */
export type Choice = 'approve' | 'reject' | 'escalate';

export interface Answering {
  readonly note?: string;
  /** Dollars, where a budget is asked for. */
  readonly usd?: number;
  /** Allow the tool for the rest of its session. */
  readonly always?: boolean;
}

/** Which choices there are: some things wait for something else than a yes or a no. */
export function choicesOf({ what }: Waiting): readonly Choice[] {
  if (what === 'permission') return ['approve', 'reject'];
  if (what === 'approval' || what === 'gate' || what === 'activation')
    return ['approve', 'reject', 'escalate'];
  return what === 'budget' ? ['approve'] : [];
}

/** The button's word. */
export const wordOf = ({ what }: Waiting, choice: Choice): string =>
  choice === 'escalate'
    ? 'Escalate'
    : what === 'permission'
      ? choice === 'approve'
        ? 'Allow'
        : 'Deny'
      : what === 'budget'
        ? 'Grant'
        : choice === 'approve'
          ? 'Approve'
          : 'Reject';

/**
 * Of the polls whose program was shown: the hash of what stood there. Only that is decided; a program that was
 * changed after it was read is refused by the gateway.
 */
export const contractsRead = new Map<string, string>();

/** Throws a `Refused` where the gateway says no, as when another has decided first. */
export async function decide(thing: Waiting, choice: Choice, answering: Answering = {}): Promise<void> {
  try {
    await must(send(thing, choice, answering));
  } finally {
    refreshWaiting();
  }
}

async function send(thing: Waiting, choice: Choice, { note, usd, always }: Answering): Promise<unknown> {
  const { what, id, waitingId } = thing;
  const noted = note === undefined || note === '' ? {} : { note };
  const reason = note === undefined || note === '' ? {} : { reason: note };
  const decision = choice === 'approve' ? 'approve' : 'reject';
  if (what === 'permission')
    return client.post('/api/sessions/{id}/permissions/{permission}', {
      params: { path: { id, permission: waitingId } },
      body: {
        decision: choice === 'approve' ? 'allow' : 'deny',
        ...noted,
        ...(always === true && { always }),
      },
    });
  if (what === 'approval')
    return choice === 'escalate'
      ? client.post('/api/work-items/{id}/approval/escalate', { params: { path: { id } }, body: reason })
      : client.post('/api/work-items/{id}/approval', {
          params: { path: { id } },
          body: { decision, ...noted },
        });
  if (what === 'gate') {
    const path = { id: thing.within ?? '', runId: id };
    return choice === 'escalate'
      ? client.post('/api/workflow-definitions/{id}/runs/{runId}/gate-approval/escalate', {
          params: { path },
          body: reason,
        })
      : client.post('/api/workflow-definitions/{id}/runs/{runId}/resolve-gate', {
          params: { path },
          body: { decision, gateKey: waitingId, ...noted },
        });
  }
  if (what === 'activation') {
    if (choice === 'escalate')
      return client.post('/api/workflow-triggers/{name}/activation-approval/escalate', {
        params: { path: { name: id } },
        body: reason,
      });
    const activationContractHash = contractsRead.get(id);
    if (activationContractHash === undefined)
      throw new Refused(0, 'NOT_READ', 'Its program was not shown yet: open it and read it first.');
    return client.post('/api/workflow-triggers/{name}/activation-approval', {
      params: { path: { name: id } },
      body: { decision, activationContractHash, ...noted },
    });
  }
  if (what === 'budget' && usd !== undefined)
    return client.post('/api/org/employees/{name}/budget', {
      params: { path: { name: id } },
      body: { usd, ...noted },
    });
  throw new Refused(0, 'NOT_HERE', 'This is decided elsewhere: open it.');
}
