import { rootOf, rosterOf } from '../../../actors/work-item/facts.js';
import type { Causes } from '../../../machines/caller.js';
import { policyOfMode, type PermissionMode, type ToolPolicy } from '../../../machines/session/tool-policy.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import type { App, Employee, GatewayActor } from '../app.js';
import { manages } from '../relation.js';
import { presentSession } from '../sessions/read-session.js';
import { agentOf } from './causes.js';

/**
 * What a new session may do. It works as its employee (persona, engine, folder), but it has that employee's
 * rights only if each agent that stands behind it is that employee or stands above it in the organisation:
 * delegating upwards is a request, not a promotion. Otherwise it has the rights of who opened it. Its tools are
 * at most its opener's, unless the employee's file lends them.
 */
export interface SessionRights {
  /** The employee whose rights it has; null: of none. */
  readonly actsAs: string | null;
  /** Whose sandbox holds for it beside its own employee's: no one leaves a cage by opening a session. */
  readonly confinedAs: readonly string[];
  /** What its tools may do: what was asked for or its employee has, and after that what it may be at most. */
  readonly permissions: readonly [own: ToolPolicy, ...most: ToolPolicy[]];
}

export interface Opening {
  readonly causes: Causes;
  /** Above it in the tree; null: it stands at the top. */
  readonly parentSessionId: string | null;
  readonly employee: Employee | null;
  /** What its agent may do without permission, as who opens it chose. Absent: as its employee may. */
  readonly mode?: PermissionMode | null | undefined;
}

/** @example await rightsOf(app, { causes: [caller], parentSessionId: 's1', employee: ann }) */
export async function rightsOf(
  app: App,
  { causes, parentSessionId, employee, mode }: Opening,
): Promise<SessionRights | Refusal> {
  const parent = parentSessionId === null ? undefined : await presentSession(app, parentSessionId);
  if (isRefusal(parent)) return parent;
  const agents = [
    ...(parent === undefined ? [] : [agentOf(parent)]),
    ...causes.flatMap((cause) => (cause.type === 'session' && cause.id !== parent?.id ? [cause] : [])),
  ];
  const openers = await Promise.all(
    agents.map(async (agent) => {
      const session = await app.supervisor.get('session', agent.id);
      return { employee: agent.employee, tools: toolsOf(session), confined: cagesOf(session) };
    }),
  );
  const above = openers.map((opener) => opener.employee);
  const own = employee?.name ?? null;
  return {
    actsAs: narrowest(app, own, above),
    confinedAs: [...new Set(openers.flatMap(({ confined }) => confined))],
    permissions: [
      mode == null ? toolPolicyOf(employee) : policyOfMode(mode),
      ...openers.map((opener) =>
        lends(app, employee, opener.employee) ? toolPolicyOf(employee) : (opener.tools ?? nothing),
      ),
    ],
  };
}

/** The first of these that every agent behind the session is, or stands above; null: no one's rights. */
function narrowest(app: App, own: string | null, above: readonly (string | null)[]): string | null {
  if (own === null) return null;
  return (
    [own, ...above].find(
      (candidate) => candidate !== null && above.every((agent) => isOrAbove(app, agent, candidate)),
    ) ?? null
  );
}

/** Is this employee the other one, or does it stand above it? */
export function isOrAbove(app: App, employee: string | null, other: string): boolean {
  if (employee === null) return false;
  if (employee === other) return true;
  const roster = rosterOf(app.roster?.());
  return roster !== undefined && (rootOf(roster) === employee || manages(app, employee, other));
}

/** What an employee's agents may do without permission, as its file says. */
export function toolPolicyOf(employee: Employee | null): ToolPolicy {
  const { permissions = 'ask' } = employee ?? {};
  if (typeof permissions === 'string') return { mode: permissions, allow: [] };
  return { mode: permissions.mode, allow: (permissions.allow ?? []).slice(0, toolsMax) };
}

const toolsMax = 100;
const nothing: ToolPolicy = { mode: 'ask', allow: [] };

/** Whose sandboxes hold for a session: its own employee's, and what was passed on to it. */
export function cagesOf(session: GatewayActor<'session'> | undefined): readonly string[] {
  if (session === undefined) return [];
  const { employee, confinedAs } = session.view;
  return [...(employee === null ? [] : [employee]), ...confinedAs];
}

const toolsOf = (session: GatewayActor<'session'> | undefined): ToolPolicy | undefined =>
  session?.view.toolPolicy;

/** Does the employee's file lend its tools to this opener's sessions? */
function lends(app: App, employee: Employee | null, opener: string | null): boolean {
  const { permissions } = employee ?? {};
  const lendTo = typeof permissions === 'object' ? permissions.lendTo : undefined;
  if (employee === null || lendTo === undefined) return false;
  if (lendTo === 'anyone') return true;
  if (opener === null) return false;
  return lendTo === 'reports' ? manages(app, employee.name, opener) : lendTo.includes(opener);
}
