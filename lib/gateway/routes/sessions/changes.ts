import { z } from 'zod';
import { commitChanges, discardChanges, mergeChanges } from '../../../commands/changes/decide-changes.js';
import { readChanges, readPatch } from '../../../commands/changes/read-changes.js';
import type { App } from '../../../commands/app.js';
import type { Reply } from '../../../commands/request.js';
import { isRefusal, type Refusal } from '../../../../machines/refusals.js';
import { idOf } from '../../parse.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import { iso, sentence, text } from '../../schemas.js';

/** What a session has changed in its folder, and what a person does with that. */

const changedFile = z.object({
  path: z.string().describe('Below `folder`.'),
  change: z.enum(['added', 'changed', 'removed', 'renamed']),
  renamedFrom: z.string().nullable().describe('Its name before, where it was moved.'),
  added: z.int().nullable().describe('Lines; null: no text.'),
  removed: z.int().nullable(),
  isCommitted: z.boolean(),
});
const merge = z.object({
  state: z
    .enum(['ready', 'merged', 'conflicts', 'refused'])
    .describe('merged: the other branch has all of it. refused: `reason` says what has to be done first.'),
  reason: z.string().nullable(),
  repository: z.string().describe('The checkout that it would go into.'),
  into: z.string().nullable().describe('The branch that is checked out there.'),
  head: z.string(),
  conflicts: z.array(
    z.object({ path: z.string(), text: z.string().describe("The lines that differ, between git's marks.") }),
  ),
});
const changes = z
  .object({
    kind: z
      .enum(['worktree', 'folder', 'none'])
      .describe(
        'worktree: a branch of its own, compared with the one in its repository. folder: compared with the ' +
          'last commit. none: in no git repository.',
      ),
    folder: z.string().nullable(),
    branch: z.string().nullable(),
    base: z.string().nullable().describe('The commit that they are compared with.'),
    version: z.string().describe('Send it with what you decide: others by now are refused with 409.'),
    isWorking: z.boolean().describe('A turn runs: nothing can be decided now.'),
    commits: z.array(z.object({ commit: z.string(), subject: z.string(), author: z.string(), at: iso })),
    files: z.array(changedFile),
    hasMoreFiles: z.boolean(),
    within: z
      .array(z.string())
      .describe('Repositories below `folder`: nothing of what is in them is shown, committed or merged.'),
    merge: merge.nullable().describe('Of a worktree.'),
    turns: z
      .array(
        z.object({
          turnId: z.string(),
          at: iso,
          files: z.array(z.string()),
          stat: z.string(),
          patchUrl: z.string().nullable(),
        }),
      )
      .describe('What each turn changed, the latest first.'),
  })
  .meta({ id: 'Changes' });

const pathsMax = 1_000;
const version = text(64).describe('Of the changes as you have read them.');
const paths = z.array(text(4_096)).min(1).max(pathsMax).optional().describe('Absent: all.');
const message = sentence(10_000);
const commitBody = z.object({ version, paths, message });
const discardBody = z.object({ version, paths });
const mergeBody = z.object({
  version,
  squash: z.boolean().default(false).describe('One commit with all changes.'),
  message: message.optional().describe('Of the commit. Absent: title and branch of the session.'),
});
const pathQuery = z.object({ path: text(4_096).min(1) });

const target = 'session';
const refusals = ['NOT_FOUND', 'CONFLICT'] as const;
const decided = [...refusals, 'BAD_REQUEST', 'VERSION_CONFLICT'] as const;

export const changeRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/sessions/:id/changes',
    'changes.read',
    {
      about:
        'What a session has changed in its folder: files, commits, what each turn changed, and how it would merge.',
      answer: changes,
      target,
      refusals,
    },
    async (request) => answered(request.app, await readChanges(request.app, idOf(request))),
  ),
  route(
    'GET',
    '/api/sessions/:id/changes/patch',
    'changes.read',
    {
      about: 'What has changed in one file, as `git diff` shows it.',
      query: pathQuery,
      answer: z.object({ path: z.string(), patch: z.string(), isCut: z.boolean() }),
      target,
      refusals,
    },
    async (request: HttpRequest<unknown, z.output<typeof pathQuery>>) =>
      answered(request.app, await readPatch(request.app, idOf(request), request.query.path)),
  ),
  route(
    'POST',
    '/api/sessions/:id/changes/commit',
    'changes.decide',
    {
      about: 'Commit what is in no commit, on the branch that is checked out there.',
      body: commitBody,
      answer: z.object({ commit: z.string() }),
      target,
      refusals: decided,
    },
    async (request: HttpRequest<z.output<typeof commitBody>>) =>
      answered(request.app, await commitChanges(request, idOf(request), request.body)),
  ),
  route(
    'POST',
    '/api/sessions/:id/changes/discard',
    'changes.decide',
    {
      about:
        'Take files back to what they were before the session; in a folder that is no worktree, to the last ' +
        'commit. What they were is kept in the repository under `keptAs`.',
      body: discardBody,
      answer: z.object({ keptAs: z.string(), count: z.int() }),
      target,
      refusals: decided,
    },
    async (request: HttpRequest<z.output<typeof discardBody>>) =>
      answered(request.app, await discardChanges(request, idOf(request), request.body)),
  ),
  route(
    'POST',
    '/api/sessions/:id/changes/merge',
    'changes.decide',
    {
      about:
        'Merge the branch of a session into the branch that is checked out in its repository. With conflicts, or ' +
        'where a file there would be overwritten: 409, and nothing is touched.',
      body: mergeBody,
      answer: z.object({ commit: z.string(), into: z.string() }),
      target,
      refusals: decided,
    },
    async (request: HttpRequest<z.output<typeof mergeBody>>) =>
      answered(request.app, await mergeChanges(request, idOf(request), request.body)),
  ),
];

/** Agents may have written the operator's token into a file. */
const answered = (app: App, body: object | Refusal): Reply | Refusal =>
  isRefusal(body) ? body : { body: app.redact?.(body) ?? body };
