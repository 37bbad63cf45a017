import type { SessionEvent } from '../../machines/session/context.js';
import type { SessionRows } from '../../machines/session/rows.js';
import type { EffectContext } from '../contracts.js';
import { proposedRule } from '../../machines/session/tool-rule.js';
import { anchored, mayUse, type ToolPolicy } from '../../machines/session/tool-policy.js';
import type { PermissionAnswer, PermissionRequest } from '../engines/engine.js';

/** What the effect of a session's turn may use. */
export type TurnContext = EffectContext<SessionRows, SessionEvent>;

export interface AskerOptions {
  readonly turnId: string;
  readonly policy: ToolPolicy;
  /** Where its rules of files hold that name no place. */
  readonly cwd: string;
  readonly context: TurnContext;
  /** Aborts when the turn ends: then no one can answer any more. */
  readonly signal: AbortSignal;
  /** How long a person may take. */
  readonly waitMs: number;
  /** What the turn asked may have been asked by an earlier gateway. Default: no. */
  readonly isAgain?: boolean;
}

/**
 * Where an agent's question "may I use this tool?" is answered: by the session's policy at once, else by a
 * person. The question is a durable event of the session, so that it is seen and decided wherever people
 * look; the answer comes back as an event for this effect. Whatever goes wrong on the way is a no, with a
 * sentence for the agent.
 */
export function permissionAsker({
  turnId,
  policy,
  cwd,
  context,
  signal,
  waitMs,
  isAgain = false,
}: AskerOptions): (
  request: PermissionRequest & { readonly id: string; readonly isDecided?: boolean },
  onAsked: () => void,
) => Promise<PermissionAnswer & { readonly isAsked: boolean; readonly message?: string }> {
  const waiting = new Map<string, (answer: PermissionAnswer) => void>();
  let inForce = anchored(policy, cwd);
  // As the session machine sends them
  context.onEvent((event) => {
    if (event.type === 'policy.changed') inForce = anchored((event as Changed).toolPolicy, cwd);
    if (event.type !== 'permission.answered') return;
    const { permissionId, decision, note } = event as Answered;
    waiting.get(permissionId)?.(decision === 'allow' ? { allow: true } : no(note ?? 'A person denied it.'));
  });
  signal.addEventListener(
    'abort',
    () => {
      for (const settle of waiting.values()) settle(no('The turn ended.'));
    },
    { once: true },
  );

  return async ({ id, tool, title, input, uses, isDecided = false }, onAsked) => {
    if (isDecided) return answeredBefore(context, `${turnId}:${id}`);
    if (mayUse(inForce, { tool, uses })) return { allow: true, isAsked: false };
    if (signal.aborted) return { ...no('The turn ended.'), isAsked: false };
    const permissionId = `${turnId}:${id}`;
    const rule = proposedRule({ tool, uses }, cwd);
    const answer = new Promise<PermissionAnswer>((resolve) => waiting.set(permissionId, resolve));
    try {
      const before = isAgain ? await askedBefore(context, permissionId) : undefined;
      if (before !== undefined && before !== 'pending') return { ...before, isAsked: true };
      if (before === undefined)
        await context.send({
          type: 'permission.asked',
          permissionId,
          turnId,
          tool,
          title,
          text: JSON.stringify(input, null, 2) ?? '',
          waitMs,
          ...(rule === undefined ? {} : { rule }),
        });
      // a refused event is not an error to its sender: only a row proves that a person will see the question
      const rows = await context.rows('permissions', { last: 64 });
      if (!rows.some(({ id }) => id === permissionId))
        return { ...no('Too many tools are already waiting for a person.'), isAsked: true };
      onAsked();
      return { ...(await answer), isAsked: true };
    } catch {
      return { ...no('The permission request could not be stored.'), isAsked: false };
    } finally {
      waiting.delete(permissionId);
    }
  };
}

/** What became of a question that an earlier gateway had asked; undefined: it had not. */
async function askedBefore(
  context: TurnContext,
  permissionId: string,
): Promise<PermissionAnswer | 'pending' | undefined> {
  const isIt = ({ id }: { readonly id: string }): boolean => id === permissionId;
  const [asked] = await context.rows('permissions', { last: 1, where: isIt });
  if (asked === undefined) return undefined;
  const [decided] = await context.rows('decisions', { last: 1, where: isIt });
  if (decided === undefined) return 'pending';
  return decided.state === 'allowed' ? { allow: true } : no(decided.note ?? 'It was not allowed.');
}

/** To a question that needs no answer any more: it is looked up for the turn's record. */
async function answeredBefore(
  context: TurnContext,
  permissionId: string,
): Promise<PermissionAnswer & { readonly isAsked: boolean }> {
  const before = await askedBefore(context, permissionId).catch(() => undefined);
  return before === undefined || before === 'pending'
    ? { allow: true, isAsked: false } // the policy had answered
    : { ...before, isAsked: true };
}

interface Answered {
  readonly type: string;
  readonly permissionId: string;
  readonly decision: 'allow' | 'deny';
  readonly note: string | null;
}
interface Changed {
  readonly type: string;
  readonly toolPolicy: ToolPolicy;
}

const no = (reason: string): PermissionAnswer => ({
  allow: false,
  message: `${reason} Go on without this tool, or say in your answer what you would have done with it.`,
});
