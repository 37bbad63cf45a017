import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ask } from '../../page/ask.js';
import { useLoaded } from './live.js';
import type { Answer } from '../../client/requests.js';

/** A row of `GET /api/attention`: something that an actor cannot go on without. */
export type Waiting = Answer<'/api/attention', 'get'>['waiting'][number];

export interface Attention {
  readonly waiting: readonly Waiting[];
  /** There are more than are shown. */
  readonly isCut: boolean;
  readonly error: string | undefined;
}

/** What waits, longest first; undefined until it was read. One reading for all views, kept true by the feed. */
export const attention = signal<Attention | undefined>(undefined);

export function useAttention(): void {
  const loaded = useLoaded(
    'attention',
    (signal) => ask<Answer<'/api/attention', 'get'>>(`/api/attention?limit=${waitingMax}`, { signal }),
    { touches: ({ entries, skipped }) => skipped > 0 || entries.length > 0, everyMs: 30_000 },
  );
  const { value, error } = loaded.value;
  useEffect(() => {
    if (value !== undefined || error !== undefined)
      attention.value = { waiting: value?.waiting ?? [], isCut: (value?.nextCursor ?? null) !== null, error };
  }, [value, error]);
}

const waitingMax = 500;

/** How a person ends it, where a yes or a no does: what to post, and the words on the buttons. */
export interface Decision {
  readonly path: string;
  readonly yes: readonly [word: string, body: object];
  readonly no: readonly [word: string, body: object];
}

export function decisionOf({ kind, id, what, waitingId, within }: Waiting): Decision | undefined {
  const own = encodeURIComponent(id);
  const approve = ['Approve', { decision: 'approve' }] as const;
  const reject = ['Reject', { decision: 'reject' }] as const;
  if (kind === 'work-item' && what === 'approval')
    return { path: `/api/work-items/${own}/approval`, yes: approve, no: reject };
  if (kind === 'poll' && what === 'activation')
    return { path: `/api/workflow-triggers/${own}/activation-approval`, yes: approve, no: reject };
  if (kind === 'workflow' && what === 'version') {
    const versions = [{ workflowId: id, version: Number(waitingId) }];
    return {
      path: '/api/workflow-approvals',
      yes: ['Approve', { decision: 'approve', versions }],
      no: ['Reject', { decision: 'reject', versions }],
    };
  }
  if (kind === 'session' && what === 'permission')
    return {
      path: `/api/sessions/${own}/permissions/${encodeURIComponent(waitingId)}`,
      yes: ['Allow', { decision: 'allow' }],
      no: ['Deny', { decision: 'deny' }],
    };
  if (kind === 'workflow-run' && what === 'gate' && within !== undefined)
    return {
      path: `/api/workflow-definitions/${encodeURIComponent(within)}/runs/${own}/resolve-gate`,
      yes: ['Approve', { decision: 'approve', gateKey: waitingId }],
      no: ['Reject', { decision: 'reject', gateKey: waitingId }],
    };
  return undefined;
}
