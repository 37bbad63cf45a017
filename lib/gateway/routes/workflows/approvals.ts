import { z } from 'zod';
import { decideVersions, pendingVersions } from '../../../commands/workflows/decide-versions.js';
import { route, type Route } from '../../route.js';

const authority = z
  .looseObject({
    version: z.int(),
    writtenBy: z.string(),
    state: z.enum(['approved', 'unapproved', 'pending_approval', 'rejected']),
    approvedBy: z.string().nullable(),
    reasons: z.array(z.string()),
  })
  .describe('With whose rights a version acts.');

const decideBody = z.object({
  decision: z.enum(['approve', 'reject']),
  versions: z
    .array(z.object({ workflowId: z.string().min(1).max(128), version: z.int().min(1) }))
    .min(1)
    .max(100)
    .describe('Exactly these; of one that has changed meanwhile the outcome names the newest version.'),
});

export const workflowApprovalRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/workflow-approvals',
    'workflow.approvals',
    {
      about: 'List versions of workflows that an agent wrote and a person must approve, and why.',
      answer: z.object({
        pending: z.array(
          authority.extend({
            approvedVersion: z.int().nullable().describe('The latest one before it that was approved.'),
          }),
        ),
      }),
    },
    async ({ app }) => ({ body: { pending: await pendingVersions(app) } }),
  ),
  route(
    'POST',
    '/api/workflow-approvals',
    'workflow.approve',
    {
      about:
        'Approve or reject versions of workflows: an approved one lends your rights, for exactly its steps.',
      body: decideBody,
      answer: z.object({
        outcomes: z.array(
          z.looseObject({
            workflowId: z.string(),
            version: z.int(),
            authority: authority.optional(),
            code: z.string().optional(),
            error: z.string().optional(),
          }),
        ),
      }),
    },
    async (request) => ({
      body: {
        outcomes: await decideVersions(request, request.body.decision, request.body.versions),
      },
    }),
  ),
];
