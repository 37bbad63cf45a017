import { z } from 'zod';
import { listMembers } from '../../../commands/work-items/work-item-page.js';
import { iso, maybe, verifyPolicy, workItemSource, workItemStatus } from '../../schemas.js';

/** Work items as they are shown whole, in lists and by their ledger. */
const workSoFar = {
  attemptCount: z.int().nullish().describe('How often sessions began to work on it.'),
  costUsd: z.number().nullish().describe('What they cost, as far as their engines say.'),
  statusSince: iso.nullish().describe('Since when it has its status.'),
};

export const workItem = z
  .looseObject({
    id: z.string(),
    title: z.string(),
    body: maybe(z.string()),
    acceptance: maybe(z.string()),
    status: workItemStatus,
    department: maybe(z.string()),
    assignee: maybe(z.string()),
    priority: z.int().min(0).max(3),
    rank: maybe(z.number()),
    version: z.int(),
    source: workItemSource,
    sourceRef: maybe(z.string()),
    verifyPolicy: maybe(verifyPolicy),
    rounds: z.int(),
    approvalState: maybe(z.enum(['pending', 'approved', 'rejected'])),
    approvalRequest: maybe(z.string()),
    approvalTarget: maybe(z.string()),
    approvalTargetKind: maybe(z.enum(['employee', 'virtual', 'none'])),
    approvalEscalatedAt: maybe(iso),
    approvalDecidedBy: maybe(z.string()),
    approvalDecidedAt: maybe(iso),
    createdAt: iso,
    updatedAt: iso,
    closedAt: maybe(iso),
    ...workSoFar,
  })
  .meta({ id: 'WorkItem' });

const rowMember = (member: string): z.ZodType =>
  member === 'sessionRef'
    ? maybe(z.object({ sessionId: z.string(), ref: z.string() }).describe('Its latest attempt.'))
    : ((workItem.shape as Readonly<Record<string, z.ZodType>>)[member] ?? maybe(z.string()));

export const workItemRow = z
  .object(Object.fromEntries(listMembers.map((member) => [member, rowMember(member)])))
  .meta({ id: 'WorkItemRow' });

export const workItemEvent = z
  .looseObject({
    id: z.string(),
    workItemId: z.string(),
    kind: z.string(),
    fromStatus: maybe(z.string()),
    toStatus: maybe(z.string()),
    actor: maybe(z.string()),
    createdAt: iso,
  })
  .meta({ id: 'WorkItemEvent' });
