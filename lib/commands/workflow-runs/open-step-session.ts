import { createHash } from 'node:crypto';
import type { Opened, StepSession } from '../../../actors/workflow-run/ports.js';
import { callerName, system, type Caller } from '../../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { employeeNamed, type App, type GatewayActor } from '../app.js';
import { judgeAll } from '../authority/causes.js';
import { spend } from '../authority/quotas.js';
import { rightsOf } from '../authority/session-rights.js';
import { causesOfRun } from '../authority/workflow-authority.js';
import { relationToSession } from '../relation.js';
import { openWithin, selectFor } from '../sessions/open-session.js';
import { ownPlace } from '../workers.js';

/**
 * The session that does a step. Its id follows from the attempt, so that opening it again opens nothing; and
 * it is opened in one commit with a look at the run: one that was cancelled meanwhile gets no session any
 * more.
 */
export async function openStepSession(app: App, wanted: StepSession): Promise<Opened> {
  const { mode, sessionId } = wanted.options.session;
  const answer =
    mode === 'existing' && sessionId !== null
      ? ((await judgeAll(await causesOfRun(app, wanted.runId), (cause) => mayEnter(app, cause, sessionId))) ??
        (await postStep(app, sessionId, wanted)))
      : await inOwnSession(app, wanted, mode);
  return isRefusal(answer) ? { refused: answer.message } : { id: answer };
}

async function inOwnSession(
  app: App,
  wanted: StepSession,
  mode: 'fresh' | 'workflow' | 'existing',
): Promise<string | Refusal> {
  const { actor, options, runId, nodeId, round, attempt } = wanted;
  // one session per actor of a run, or one per attempt
  const id = uuidOf(
    mode === 'workflow' ? `${runId}/${actor.kind}/${actor.ref}` : `${runId}/${nodeId}/${round}/${attempt}`,
  );
  if (await app.supervisor.get('session', id)) return mode === 'workflow' ? postStep(app, id, wanted) : id;
  const employee = employeeNamed(app, actor.kind === 'employee' ? actor.ref : null);
  if (isRefusal(employee)) return employee;
  const session = {
    prompt: wanted.prompt,
    title: wanted.title,
    engine: actor.kind === 'engine' ? actor.ref : null,
    model: options.model,
    effort: options.effort,
  };
  const selection = await selectFor(app, session, employee);
  if (isRefusal(selection)) return selection;
  const place = await ownPlace(app, id, employee);
  if (isRefusal(place)) return place;
  const causes = await causesOfRun(app, runId);
  const full = await spend({ app, caller: system(`workflow-run:${runId}`), onBehalfOf: causes }, 'sessions');
  if (full) return full;
  const rights = await rightsOf(app, { causes, parentSessionId: null, employee });
  if (isRefusal(rights)) return rights;
  const committed = await app.supervisor.transact<{ id: string }>({
    name: 'open-step-session',
    actors: [runKey(runId), { kind: 'session', id }],
    by: system(`workflow-run:${runId}`),
    onBehalfOf: causes,
    run(turns) {
      if (!isWanted(turns.read(runKey(runId)), wanted))
        return refuse('CONFLICT', { runId, nodeId }, 'The run has moved past this step.');
      if (turns.read({ kind: 'session', id }) === undefined) {
        openWithin(app, turns, id, {
          input: session,
          employee,
          selection,
          lineage: { parentSessionId: null, ancestors: [] },
          cwd: place.cwd,
          placement: place.placement,
          rights,
          workItemId: null,
          source: 'workflow',
          sourceRef: `workflow-run:${runId}:${nodeId}${round > 1 ? `:r${round}` : ''}:${attempt}`,
          step: { runId, nodeId, round, attempt },
        });
      }
      return { id };
    },
  });
  return isRefusal(committed) ? committed : id;
}

/**
 * A step in a session that is there already. The message's id follows from the attempt: it is posted once.
 */
async function postStep(app: App, sessionId: string, wanted: StepSession): Promise<string | Refusal> {
  const { runId, nodeId, round, attempt, prompt, key } = wanted;
  const session = { kind: 'session', id: sessionId } as const;
  const message = {
    id: uuidOf(key),
    content: prompt,
    role: 'user' as const,
    kind: 'callback' as const,
    meta: { kind: 'workflow-step', runId, nodeId },
  };
  const committed = await app.supervisor.transact({
    name: 'post-step',
    actors: [runKey(runId), session],
    by: system(`workflow-run:${runId}`),
    onBehalfOf: await causesOfRun(app, runId),
    idempotency: { scope: 'workflow-step', key, hash: key },
    run(turns) {
      if (turns.read(session) === undefined)
        return refuse('NOT_FOUND', session, `Unknown session ${sessionId}.`);
      if (!isWanted(turns.read(runKey(runId)), wanted))
        return refuse('CONFLICT', { runId, nodeId }, 'The run has moved past this step.');
      turns.send(session, { type: 'message.post', message, step: { runId, nodeId, round, attempt } });
      return null;
    },
  });
  return isRefusal(committed) ? committed : sessionId;
}

/** A step speaks in the user's place: an agent has that said in its own sessions and those beneath. */
async function mayEnter(app: App, cause: Caller, sessionId: string): Promise<Refusal | undefined> {
  const session = cause.type === 'session' ? await app.supervisor.get('session', sessionId) : undefined;
  if (cause.type !== 'session' || session === undefined) return undefined;
  return ['self', 'above'].includes(relationToSession(cause, session))
    ? undefined
    : refuse('FORBIDDEN', { sessionId }, `Session ${sessionId} does not stand below ${callerName(cause)}.`);
}

const runKey = (id: string) => ({ kind: 'workflow-run', id }) as const;

/** Does the run still wait for this very attempt? */
function isWanted(
  run: GatewayActor<'workflow-run'> | undefined,
  { nodeId, round, attempt }: StepSession,
): boolean {
  if (run === undefined) return false;
  const { steps } = run.view;
  const step = steps[nodeId];
  return step !== undefined && step.status === 'running' && step.round === round && step.attempt === attempt;
}

/** The same name gives the same id, in the form of a UUID (RFC 9562, version 8). */
function uuidOf(name: string): string {
  const hex = createHash('sha256').update(`troupe workflow ${name}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
