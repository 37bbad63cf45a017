import { system, type Caller } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { standardQuotas, type Quotas } from '../../home/agent-settings.js';
import type { App } from '../app.js';
import type { Request } from '../request.js';
import { inTurn } from '../request.js';
import { agentOf, causesOf } from './causes.js';

type Agent = Extract<Caller, { type: 'session' }>;
export type Quota = keyof Quotas;
/**
 * What each agent has begun, and the refusal of more than its quota (`agents.quotas`). Counted per employee whose
 * rights it has, else per tree of sessions, and for each agent above it as well: a manager would have the quotas of
 * all its reports else. What a workflow begins counts for the agents behind the run. People have no bounds.
 */

/** The quotas that hold now. */
export const quotasOf = ({ settings }: Pick<App, 'settings'>): Quotas =>
  settings.agentQuotas ?? standardQuotas;

type Counts = Readonly<Record<Quota, number>>;

/** What one agent has used: in this hour, and in all. */
export type AgentUsage = {
  /** `employee:ann`, or `session:<id>`: the top of its tree. */
  readonly agent: string;
  /** The hour that is counted, since 1970. */
  readonly hour: number;
  readonly inHour: Counts;
  readonly total: Counts;
  /** The quota that it met last, and when first in that hour; epoch ms. Absent: none yet. */
  readonly met?: { readonly quota: Quota; readonly per: 'hour' | 'total'; readonly at: number };
};

/**
 * Count what a request begins; the refusal where an agent behind it has used up its quota. A rehearsal counts
 * nothing.
 * @example const full = await spend(request, 'sessions')
 */
export async function spend(
  request: Pick<Request, 'app' | 'caller' | 'onBehalfOf' | 'dryRun'>,
  quota: Quota,
  amount = 1,
): Promise<Refusal | undefined> {
  for (const agent of await agentsBehind(request)) {
    const refusal = await spendAs(request, agent, quota, amount);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** Those who caused it, and those who opened their sessions; each once. */
async function agentsBehind(
  request: Pick<Request, 'app' | 'caller' | 'onBehalfOf'>,
): Promise<ReadonlySet<string>> {
  const agents = new Set<string>();
  for (const cause of causesOf(request)) {
    if (cause.type !== 'session') continue;
    agents.add(agentKey(cause));
    for (const id of cause.ancestors) {
      const session = await request.app.supervisor.get('session', id);
      if (session !== undefined) agents.add(agentKey(agentOf(session)));
    }
  }
  return agents;
}

/**
 * Count what an agent sends. Written down a mebibyte at a time: a commit for each request would cost more than it
 * guards.
 */
export async function spendBytes(
  request: Pick<Request, 'app' | 'dryRun'> & { readonly caller: Agent },
  bytes: number,
): Promise<Refusal | undefined> {
  const { supervisor } = request.app;
  const unwritten = unwrittenOf.get(supervisor) ?? new Map<string, number>();
  unwrittenOf.set(supervisor, unwritten);
  const agent = agentKey(request.caller);
  const sent = (unwritten.get(agent) ?? 0) + bytes;
  unwritten.set(agent, sent < bytesPerWrite ? sent : 0);
  return sent < bytesPerWrite ? undefined : spend(request, 'bytes', sent);
}

const unwrittenOf = new WeakMap<object, Map<string, number>>();
const bytesPerWrite = 1 << 20;

/** All agents that have begun anything, for people to see; `resetAt`: when the hour ends, epoch ms. */
export async function usages({
  supervisor,
}: App): Promise<readonly (AgentUsage & { readonly resetAt: number })[]> {
  const rows = await supervisor.keyValues(prefix);
  const now = supervisor.environment.clock.now();
  return rows.map(([, kept]) => {
    const usage = current('', kept, now);
    return { ...usage, resetAt: (usage.hour + 1) * hourMs };
  });
}

function spendAs(
  { app, dryRun }: Pick<Request, 'app' | 'dryRun'>,
  agent: string,
  quota: Quota,
  amount: number,
): Promise<Refusal | undefined> {
  const { supervisor } = app;
  const key = `${prefix}${Buffer.from(agent).toString('base64url')}`;
  return inTurn(supervisor, key, async () => {
    let refusal: Refusal | undefined;
    await supervisor.transact({
      name: 'agent-quota',
      startsWork: false,
      actors: [],
      reads: [key],
      by: system('quotas'),
      run: (tx) => {
        const usage = current(agent, tx.get(key), tx.at);
        refusal = overdrawn(usage, quota, { amount, limits: quotasOf(app)[quota] });
        if (dryRun === true) return null;
        if (refusal === undefined) tx.put(key, more(usage, quota, amount));
        // once an hour: an agent in a circle writes nothing by being refused
        else if (!isKnown(usage, quota))
          tx.put(key, { ...usage, met: { quota, per: perOf(refusal), at: tx.at } });
        return null;
      },
    });
    return refusal;
  });
}

function overdrawn(
  { agent, hour, inHour, total }: AgentUsage,
  quota: Quota,
  { amount, limits }: { readonly amount: number; readonly limits: Quotas[Quota] },
): Refusal | undefined {
  if (total[quota] + amount > limits.total)
    return refuse(
      'AGENT_QUOTA',
      { agent, quota, limit: limits.total, per: 'total' },
      `${agent} has used up its quota of ${limits.total} ${quota} in all. Ask a person.`,
    );
  return inHour[quota] + amount <= limits.hour
    ? undefined
    : refuse(
        'AGENT_QUOTA',
        { agent, quota, limit: limits.hour, per: 'hour', resetAt: (hour + 1) * hourMs },
        `${agent} has used up its quota of ${limits.hour} ${quota} per hour.`,
      );
}

const isKnown = ({ met, hour }: AgentUsage, quota: Quota): boolean =>
  met?.quota === quota && Math.floor(met.at / hourMs) === hour;
const perOf = ({ details }: Refusal): 'hour' | 'total' => (details['per'] === 'hour' ? 'hour' : 'total');

/** What is kept, with a new hour begun where the kept one is over. */
function current(agent: string, kept: Json | undefined, at: number): AgentUsage {
  const hour = Math.floor(at / hourMs);
  const usage = (kept ?? undefined) as AgentUsage | undefined; // as it was written
  if (usage === undefined) return { agent, hour, inHour: nothing, total: nothing };
  return usage.hour === hour ? usage : { ...usage, hour, inHour: nothing };
}

const more = ({ inHour, total, ...usage }: AgentUsage, quota: Quota, amount: number): Json => ({
  ...usage,
  inHour: { ...inHour, [quota]: inHour[quota] + amount },
  total: { ...total, [quota]: total[quota] + amount },
});

const nothing: Counts = { sessions: 0, items: 0, runs: 0, bytes: 0 };
const hourMs = 3_600_000;
const prefix = 'agent-quota/';

const agentKey = ({ id, employee, ancestors }: Agent): string =>
  employee === null ? `session:${ancestors.at(-1) ?? id}` : `employee:${employee}`;
