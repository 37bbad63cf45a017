import { isRefusal } from '../../machines/refusals.js';
import type { ActorKey, Json } from '../../machines/outputs.js';
import type { Supervisor } from '../supervisor/contract.js';
import { actors } from './actors.js';
import type { ActorSummary } from './answers.js';
import type { MissingEngine, SlowActor, Stuck } from './stuck-answer.js';
import { pulseOf } from './pulse.js';
import { reasonOfEngine, type Engines } from './supervision.js';

export interface StuckQuery {
  /** A turn without output for so long is quiet. */
  readonly quietSeconds: number;
  /** What has been at work for so long is shown, whatever it says. */
  readonly longSeconds: number;
}

/**
 * What has stopped, and what perhaps does not go on though no one is asked: the rows of the page's list, and the number
 * beside its name. What waits for a decision is `GET /api/attention`.
 */
export async function stuck(supervisor: Supervisor, engines: Engines, query: StuckQuery): Promise<Stuck> {
  const [stopped, slow, letters, lettersCount] = await Promise.all([
    stoppedActors(supervisor),
    slowActors(supervisor, query),
    supervisor.deadLetters({ limit: lettersMax }),
    supervisor.inspection.deadLetters(),
  ]);
  const more = [...stopped.more, ...slow.more];
  return {
    engines: await missingEngines(supervisor, engines, [...stopped.found, ...slow.found], more),
    stopped: stopped.found,
    slow: slow.found,
    deadLetters: letters.map(({ place: _place, ...letter }) => letter),
    deadLettersCount: lettersCount,
    more,
    isCut: more.length > 0 || lettersCount > letters.length,
  };
}

/** What was read of some states, and which of these hold more than that. */
interface Read<Actor> {
  readonly found: readonly Actor[];
  readonly more: Stuck['more'];
}

/** Halted, failed, blocked or interrupted: nothing goes on by itself. */
async function stoppedActors(supervisor: Supervisor): Promise<Read<ActorSummary>> {
  const { inspection } = supervisor;
  const read: Promise<Read<ActorSummary>>[] = [];
  for (const { kind } of inspection.kinds()) {
    const { states, halted } = inspection.counts(kind);
    for (const [state, count] of Object.entries(states))
      if (count > 0 && stopping.test(state)) read.push(longestIn(supervisor, kind, state));
    if (halted > 0) read.push(longestIn(supervisor, kind, 'halted'));
  }
  const lists = await Promise.all(read);
  const once = new Map(lists.flatMap(({ found }) => found).map((one) => [`${one.kind}/${one.id}`, one]));
  return {
    found: [...once.values()]
      .filter(isOpen)
      .sort((a, b) => (a.halted?.at ?? a.since) - (b.halted?.at ?? b.since)),
    // A state in which actors have ended, as failed runs have, holds nothing that is stuck
    more: lists.flatMap(({ found, more }) => (found.some(isOpen) ? more : [])),
  };
}

const isOpen = ({ status, halted }: ActorSummary): boolean => status === 'active' || halted !== null;

/** Engines that cannot run, and for which a session that is stuck waits; who waits longest is named. */
async function missingEngines(
  { inspection }: Supervisor,
  engines: Engines,
  found: readonly ActorSummary[],
  more: Stuck['more'],
): Promise<readonly MissingEngine[]> {
  const isAtLeast = more.some(({ kind }) => kind === 'session');
  const sessions = found.filter(({ kind, halted }) => kind === 'session' && halted === null);
  if (sessions.length === 0) return [];
  const stored = await inspection.stored(sessions);
  const { engines: listed } = await engines.list();
  return Object.values(listed).flatMap(({ name, available, ...why }): readonly MissingEngine[] => {
    const waiting = sessions.filter((_, n) => stored[n]?.context['engine'] === name);
    const first = waiting.reduce<ActorSummary | undefined>(
      (longest, one) => (longest !== undefined && longest.since <= one.since ? longest : one),
      undefined,
    );
    if (available || first === undefined) return [];
    const { kind, id, title, since } = first;
    return [
      {
        name,
        reason: reasonOfEngine(why),
        sessions: waiting.length,
        isAtLeast,
        first: { kind, id, title },
        since,
      },
    ];
  });
}

/** Runs that are queued; turns that are quiet; sessions and runs at work for long. */
async function slowActors(
  supervisor: Supervisor,
  { quietSeconds, longSeconds }: StuckQuery,
): Promise<Read<SlowActor>> {
  const { inspection, environment } = supervisor;
  const now = environment.clock.now();
  const known = new Set(inspection.kinds().map(({ kind }) => kind));
  const of = async (kind: string, state: string, age?: number): Promise<Read<ActorSummary>> =>
    known.has(kind)
      ? await longestIn(supervisor, kind, state, { age, limit: age === undefined ? perStateMax : atWorkMax })
      : { found: [], more: [] };
  // A turn that began a moment ago can neither be quiet nor long
  const lists = await Promise.all([
    of('workflow-run', 'queued'),
    of('workflow-run', 'running', longSeconds),
    of('session', 'running', Math.min(quietSeconds, longSeconds)),
  ]);
  const [queued, runs, sessions] = lists.map(({ found }) => found) as [
    readonly ActorSummary[],
    readonly ActorSummary[],
    readonly ActorSummary[],
  ];
  const heard = await lastHeard(supervisor, sessions);
  const behind = await runsBefore(supervisor, queued);
  const slow = [
    ...queued.map((one, n): SlowActor => ({
      ...one,
      why: 'queued',
      slowSince: one.since,
      behind: behind[n] ?? null,
    })),
    ...runs.map((one): SlowActor => ({ ...one, why: 'long', slowSince: one.since })),
    ...sessions.flatMap((one, n): readonly SlowActor[] => {
      const { heardAt = one.since, waitsForOther = false } = heard[n] ?? {};
      if (waitsForOther) return [];
      return now - heardAt >= quietSeconds * 1_000
        ? [{ ...one, why: 'quiet', slowSince: heardAt }]
        : [{ ...one, why: 'long', slowSince: one.since }];
    }),
  ];
  return {
    found: slow
      .filter(({ why, slowSince }) => why !== 'long' || now - slowSince >= longSeconds * 1_000)
      .sort((a, b) => a.slowSince - b.slowSince),
    more: lists.flatMap(({ more }) => more),
  };
}

/** The runs that take the places of their workflow, for each that is queued: when one of them ends, it may begin. */
async function runsBefore(
  supervisor: Supervisor,
  queued: readonly ActorSummary[],
): Promise<readonly SlowActor['behind'][]> {
  if (queued.length === 0) return [];
  const lists = await Promise.all(
    ['running', 'parked'].map((state) => longestIn(supervisor, 'workflow-run', state)),
  );
  const live = lists.flatMap(({ found }) => found);
  const workflows = await workflowsOf(supervisor, [...queued, ...live]);
  return queued.map((_, n) => {
    const workflow = workflows[n];
    if (workflow === undefined) return null;
    const runs = live.filter((_run, at) => workflows[queued.length + at] === workflow);
    return { workflow, runs: runs.slice(0, runsMax).map(({ id, title }) => ({ id, title })) };
  });
}

const workflowsOf = async (
  { inspection }: Supervisor,
  runs: readonly ActorKey[],
): Promise<readonly (string | undefined)[]> =>
  (await inspection.stored(runs)).map((run) => {
    const { workflowId } = (run?.view ?? {}) as { readonly workflowId?: unknown };
    return typeof workflowId === 'string' ? workflowId : undefined;
  });

/**
 * Whether each session waits for a permission, or for a process, which others have that are looked at themselves; and
 * when it said something last: from memory, else as its session was told, else when its turn was to begin.
 */
async function lastHeard(
  supervisor: Supervisor,
  sessions: readonly ActorKey[],
): Promise<readonly { readonly heardAt?: number; readonly waitsForOther: boolean }[]> {
  const memory = pulseOf(supervisor);
  const stored = await supervisor.inspection.stored(sessions);
  return sessions.map((session, n) => {
    const turn = stored[n]?.context['turn'] as Readonly<Record<string, Json>> | null | undefined;
    const times = [memory.said(session)?.at, turn?.['heardAt'], turn?.['startedAt']];
    const known = times.filter((time): time is number => typeof time === 'number');
    const { permissions } = stored[n]?.context ?? {};
    return {
      ...(known.length > 0 && { heardAt: Math.max(...known) }),
      waitsForOther: turn?.['began'] !== true || (Array.isArray(permissions) && permissions.length > 0),
    };
  });
}

async function longestIn(
  supervisor: Supervisor,
  kind: string,
  state: string,
  { age, limit = perStateMax }: { readonly age?: number | undefined; readonly limit?: number } = {},
): Promise<Read<ActorSummary>> {
  const page = await actors(supervisor, { kind, state, limit, ...(age !== undefined && { age }) });
  if (isRefusal(page)) return { found: [], more: [] };
  const { states, halted } = supervisor.inspection.counts(kind);
  const named = Object.entries(states).filter(([name]) => name === state || name.endsWith(`.${state}`));
  const count = state === 'halted' ? halted : named.reduce((sum, [, many]) => sum + many, 0);
  return {
    found: page.actors,
    more: page.next === null ? [] : [{ kind, state, read: page.actors.length, count }],
  };
}

const stopping = /(?:^|\.)(?:error|blocked|interrupted|failed|escalated)$/;
const perStateMax = 50;
/** Of what is at work only some are stuck: more are looked at. */
const atWorkMax = 200;
/** Named as what a queued run waits for. */
const runsMax = 5;
const lettersMax = 100;
