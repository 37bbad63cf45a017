import {
  employeeNamed,
  type App,
  type Employee,
  type Selection,
  type GatewayActor,
  type GatewayTransaction,
} from '../app.js';
import { answeredBefore, optionsOf, replyWith, type Request, type Reply } from '../request.js';
import type { Media } from '../files.js';
import { causesOf } from '../authority/causes.js';
import { spend } from '../authority/quotas.js';
import { rightsOf, type SessionRights } from '../authority/session-rights.js';
import { ancestorsOf, relationToSession } from '../relation.js';
import { presentSession } from './read-session.js';
import type { Committed } from '../../supervisor/contract.js';
import type { GatewayInput } from '../../../actors/gateway-kinds.js';
import type { ActorKey } from '../../../machines/outputs.js';
import type { MessageIn, Placement, ReplyTo, StepLink } from '../../../machines/session/context.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import {
  anchored,
  atMost,
  type PermissionMode,
  type ToolPolicy,
} from '../../../machines/session/tool-policy.js';
import { workingFolder } from './working-folder.js';
import { placedSession, type PlacedSession } from '../workers.js';
import { dropWorktree, ownWorktree, type WorktreeOptions } from './worktree.js';

export interface SessionInput {
  readonly prompt: string;
  readonly employee?: string | null | undefined;
  readonly engine?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly effort?: string | null | undefined;
  readonly parent?: string | null | undefined;
  readonly cwd?: string | null | undefined;
  readonly title?: string | null | undefined;
  /** Files shown with the prompt. */
  readonly media?: readonly Media[] | undefined;
  /** A git worktree of its own, of the repository in `cwd` or in its employee's folder. People only. */
  readonly worktree?: boolean | undefined;
  /** What its agent may do without permission, at most what who opens it may. */
  readonly permissions?: PermissionMode | null | undefined;
  /** A worker of another machine, by its name. People only. */
  readonly worker?: string | null | undefined;
  /** Any worker that has all of these labels. People only. */
  readonly labels?: readonly string[] | undefined;
}

/**
 * Open a session and hand it its first message. An unknown employee, engine, model or effort is refused; an
 * engine that is known but not installed gives a session in `error` that names what would repair it.
 * @example await openSession(request, {prompt: 'digest'})
 */
export async function openSession(
  request: Request,
  input: SessionInput,
): Promise<Reply<GatewayActor<'session'>> | Refusal> {
  const before = await answeredBefore<{ id: string }>(request); // no folder is made again for that
  if (before !== undefined) return isRefusal(before) ? before : opening(request.app, before);
  const employee = employeeNamed(request.app, input.employee);
  if (isRefusal(employee)) return employee;
  const selection = await selectFor(request.app, input, employee);
  if (isRefusal(selection)) return selection;
  const lineage = await lineageOf(request, input.parent);
  if (isRefusal(lineage)) return lineage;
  const mode = input.permissions;
  const rights = await rightsOf(request.app, { causes: causesOf(request), ...lineage, employee, mode });
  if (isRefusal(rights)) return rights;
  const full = await spend(request, 'sessions');
  if (full) return full;
  const id = request.app.supervisor.environment.ids.next();
  const { engine } = selection;
  const place = await workingDirectoryOf(request, id, input, { employee, engine, ...rights });
  if (isRefusal(place)) return place;
  let opened: GatewayActor<'session'> | undefined;
  const committed = await request.app.supervisor.transact<{ id: string }>({
    name: 'open-session',
    actors: [],
    ...optionsOf(request),
    run(turns) {
      const source = request.caller.type === 'session' ? 'session' : 'web';
      opened = openWithin(request.app, turns, id, {
        input,
        employee,
        selection,
        lineage,
        rights,
        cwd: place.cwd,
        branch: place.branch,
        placement: place.placement,
        workItemId: null,
        source,
      });
      return { id };
    },
  });
  if (isRefusal(committed) || committed.replayed) await place.drop();
  if (isRefusal(committed)) return committed;
  return opening(request.app, committed, committed.replayed ? undefined : opened);
}

/** The session that a plan has opened, now or under the same key before. */
export async function opening(
  app: App,
  committed: Committed<{ id: string }>,
  opened?: GatewayActor<'session'>,
): Promise<Reply<GatewayActor<'session'>> | Refusal> {
  const session = opened ?? (await presentSession(app, committed.result.id));
  return isRefusal(session) ? session : replyWith(committed, session);
}

/** Within a plan: create the session, numbered in the order of creation. */
export function openWithin(
  app: App,
  turns: GatewayTransaction,
  id: string,
  parts: SessionParts,
): GatewayActor<'session'> {
  return turns.create('session', id, { input: sessionInput(app, parts, turns.next('session')) });
}

/** Above a session: its parent and the parent's ancestors, nearest first. */
export interface Lineage {
  readonly parentSessionId: string | null;
  readonly ancestors: readonly string[];
}

export interface SessionParts {
  readonly input: SessionInput;
  readonly employee: Employee | null;
  readonly selection: Selection;
  readonly lineage: Lineage;
  readonly rights: SessionRights;
  readonly cwd: string;
  /** Of the worktree that `cwd` is. */
  readonly branch?: string | null;
  /** Where its turns run that do not run here. */
  readonly placement?: Placement | undefined;
  readonly workItemId: string | null;
  readonly source: string;
  readonly sourceRef?: string;
  /** Whom its answers go to, outside. */
  readonly replyTo?: ReplyTo;
  /** The attempt at a step of a workflow that it is opened for. */
  readonly step?: StepLink;
  /** Who is told the end of its work beside parent and work item. */
  readonly reportTo?: ActorKey;
  /** Its first message, where that is not the prompt as a person's word. */
  readonly message?: MessageIn;
}

/** The input with which the session machine is created. */
function sessionInput(app: App, parts: SessionParts, number: number): GatewayInput<'session'> {
  const { input, selection, lineage } = parts;
  return {
    engine: selection.engine,
    model: selection.model,
    effort: selection.effort,
    employee: parts.employee?.name ?? null,
    parentSessionId: lineage.parentSessionId,
    ancestors: lineage.ancestors,
    workItemId: parts.workItemId,
    title: input.title ?? null,
    number,
    cwd: parts.cwd,
    ...(parts.branch != null && { branch: parts.branch }),
    ...(parts.placement && { placement: parts.placement }),
    source: parts.source,
    sourceRef: parts.sourceRef ?? null,
    interruptOnNewMessage: app.settings.interruptOnNewMessage,
    turnDeadlineMs: app.settings.turnDeadlineMs,
    actsAs: parts.rights.actsAs,
    confinedAs: parts.rights.confinedAs,
    permissions: permissionsIn(parts.cwd, parts.rights.permissions),
    message: parts.message ?? {
      id: app.supervisor.environment.ids.next(),
      role: 'user',
      content: input.prompt,
      kind: 'user',
      ...(input.media?.length && { media: input.media }),
    },
    ...(parts.reportTo && { reportTo: { ...parts.reportTo } }),
    ...(parts.replyTo && { replyTo: parts.replyTo }),
    ...(parts.step && { step: parts.step }),
    // Which programs there are on another machine is not known here
    ...(selection.unavailable &&
      !parts.placement && { unavailable: { reason: selection.unavailable.reason } }),
  };
}

/** Rules of files hold for a folder: each is bound to it before it meets those of other folders. */
const permissionsIn = (cwd: string, policies: readonly ToolPolicy[]): ToolPolicy =>
  policies.map((policy) => anchored(policy, cwd)).reduce(atMost);

/**
 * The engine that was asked for, else the employee's, else the default one. An employee's model means nothing
 * on another engine.
 */
export async function selectFor(
  app: App,
  input: SessionInput,
  employee: Employee | null,
): Promise<Selection | Refusal> {
  const own = input.engine == null || input.engine === employee?.engine;
  const model = input.model ?? (own ? employee?.model : undefined);
  const effort = input.effort ?? (own && input.model == null ? employee?.effortLevel : undefined);
  return app.engines.select(input.engine ?? employee?.engine, model, effort);
}

/** An agent's session is always beneath itself or beneath what it spawned; a person may put it anywhere. */
export async function lineageOf(
  request: Request,
  given: string | null | undefined,
): Promise<Lineage | Refusal> {
  const parentId = given ?? (request.caller.type === 'session' ? request.caller.id : null);
  if (parentId === null) return { parentSessionId: null, ancestors: [] };
  const parent = await presentSession(request.app, parentId);
  if (isRefusal(parent))
    return refuse('NOT_FOUND', { kind: 'session', id: parentId }, `Unknown parent session ${parentId}.`);
  if (
    request.caller.type === 'session' &&
    !['self', 'above'].includes(relationToSession(request.caller, parent))
  ) {
    return refuse('FORBIDDEN', {}, 'An agent may open sessions only as its own descendants.');
  }
  const ancestors = [parentId, ...ancestorsOf(parent)];
  if (ancestors.length > depthMax)
    return refuse('BAD_REQUEST', { path: 'parent' }, `Sessions may be nested at most ${depthMax} deep.`);
  return { parentSessionId: parentId, ancestors };
}

/** Every session carries its ancestors in its snapshot, and snapshots are bounded. */
const depthMax = 32;

/** The status word of a session's view. */
export const statusOf = (session: GatewayActor<'session'>): string => session.view.status;

export interface WorkingDirectory {
  readonly cwd: string;
  /** Of a worktree of its own; null: it is none. */
  readonly branch: string | null;
  /** On a worker of another machine. */
  readonly placement?: Placement;
  /** The session did not come to be: what was made for it is taken away again. */
  drop(): Promise<void>;
}

export interface WorkingDirectoryInput {
  readonly cwd?: string | null | undefined;
  readonly worktree?: boolean | undefined;
  readonly worker?: string | null | undefined;
  readonly labels?: readonly string[] | undefined;
}

export interface WorkingDirectoryOwner extends Pick<SessionParts, 'employee'> {
  readonly engine: string;
  readonly confinedAs: SessionRights['confinedAs'];
}

/** On which worker of another machine a new session works; undefined: on none. */
export const placedElsewhere = (
  { app, caller }: Request,
  id: string,
  input: WorkingDirectoryInput,
  owner: Pick<WorkingDirectoryOwner, 'employee' | 'engine'>,
): Promise<PlacedSession | Refusal | undefined> =>
  placedSession(app, id, input, { ...owner, sessionId: caller.type === 'session' ? caller.id : undefined });

/**
 * Where a new session works: in the folder that was asked for, else in its employee's, else in the configured
 * one, else in a new one of its own. A folder that is no one's choice brings its own answer to "in a worktree
 * of it?".
 */
export async function workingDirectoryOf(
  request: Request,
  sessionId: string,
  input: WorkingDirectoryInput,
  { employee, engine, confinedAs }: WorkingDirectoryOwner,
): Promise<WorkingDirectory | Refusal> {
  // git runs with the gateway's own hands, on a repository that says what git does: not for agents to ask
  if (input.worktree === true && request.caller.type === 'session')
    return refuse('FORBIDDEN', {}, 'Only people may open sessions in a worktree.');
  if ((input.worker != null || input.labels !== undefined) && request.caller.type === 'session')
    return refuse('FORBIDDEN', {}, 'Only people may choose a worker.');
  const placed = await placedElsewhere(request, sessionId, input, { employee, engine });
  if (placed !== undefined && input.worktree === true)
    return refuse('BAD_REQUEST', { path: 'worktree' }, 'There are no worktrees on workers: name the folder.');
  if (placed !== undefined)
    return isRefusal(placed) ? placed : { ...placed, branch: null, drop: () => Promise.resolve() };
  const { cwd, worktree = false } = input.cwd != null ? input : usualPlace(request.app, input, employee);
  if (worktree && cwd == null)
    return refuse('BAD_REQUEST', { path: 'worktree' }, 'worktree requires cwd: the repository.');
  const rehearsal = request.dryRun === true;
  // Of a browser and an agent no one knows in which folder they stand; who has the token is this machine's user.
  const anywhere = input.cwd != null && causesOf(request).every(({ type }) => type === 'operator');
  const folder = await workingFolder(request.app, sessionId, cwd, { rehearsal, anywhere });
  if (isRefusal(folder)) return folder;
  if (!worktree) return { cwd: folder, branch: null, drop: () => Promise.resolve() };
  const level =
    request.app.sandbox?.levelOf([...(employee === null ? [] : [employee.name]), ...confinedAs]) ?? 'off';
  const options: WorktreeOptions = { sessionId, repository: folder, level, rehearsal };
  const own = await ownWorktree(request.app, options);
  return isRefusal(own)
    ? own
    : {
        cwd: own.folder,
        branch: own.branch,
        drop: () => (rehearsal ? Promise.resolve() : dropWorktree(request.app, options)),
      };
}

function usualPlace(
  { settings }: App,
  input: WorkingDirectoryInput,
  employee: Employee | null,
): WorkingDirectoryInput {
  const cwd = employee?.cwd ?? settings.sessionCwd;
  const usual = employee?.worktree ?? (employee?.cwd === undefined ? settings.sessionWorktree : undefined);
  return { cwd, worktree: input.worktree ?? (cwd != null && usual === true) };
}
