import type { SessionEvent } from '../../machines/session/context.js';
import type { SessionRows } from '../../machines/session/rows.js';
import type { EffectContext } from '../contracts.js';
import type { PermissionAnswer, PermissionRequest } from '../engines/engine.js';

/** What the effect of a session's turn may use. */
export type TurnContext = EffectContext<SessionRows, SessionEvent>;

/** What the session's agent may do without asking: see ToolPolicy of the session machine. */
export interface ToolPolicy {
  readonly mode: 'ask' | 'allow-list' | 'full';
  readonly allow: readonly string[];
}

export interface AskerOptions {
  readonly turnId: string;
  readonly policy: ToolPolicy;
  readonly context: TurnContext;
  /** Aborts when the turn ends: then nobody can answer any more. */
  readonly signal: AbortSignal;
  /** How long a person may take. */
  readonly waitMs: number;
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
  context,
  signal,
  waitMs,
}: AskerOptions): (
  request: PermissionRequest & { readonly id: string },
  onAsked: () => void,
) => Promise<PermissionAnswer & { readonly isAsked: boolean; readonly message?: string }> {
  const waiting = new Map<string, (given: Given) => void>();
  const always = new Set<string>();
  context.onEvent((event) => {
    if (event.type !== 'permission.answered') return;
    // As the session machine sends it
    const { permissionId, decision, note, always: from } = event as Answered;
    waiting.get(permissionId)?.({
      answer: decision === 'allow' ? { allow: true } : no(note ?? 'A person denied it.'),
      always: from === true,
    });
  });
  signal.addEventListener(
    'abort',
    () => {
      for (const settle of waiting.values()) settle({ answer: no('The turn ended.'), always: false });
    },
    { once: true },
  );

  return async ({ id, tool, title, input }, onAsked) => {
    if (mayUse(policy, tool) || always.has(tool)) return { allow: true, isAsked: false };
    if (signal.aborted) return { ...no('The turn ended.'), isAsked: false };
    const permissionId = `${turnId}:${id}`;
    const answer = new Promise<Given>((resolve) => waiting.set(permissionId, resolve));
    try {
      await context.send({
        type: 'permission.asked',
        permissionId,
        turnId,
        tool,
        title,
        text: JSON.stringify(input, null, 2) ?? '',
        waitMs,
      });
      // a refused event is not an error to its sender: only a row proves that a person will see the question
      const rows = await context.rows('permissions', { last: 64 });
      if (!rows.some(({ id }) => id === permissionId))
        return { ...no('Too many tools are already waiting for a person.'), isAsked: true };
      onAsked();
      const given = await answer;
      if (given.always) always.add(tool);
      return { ...given.answer, isAsked: true };
    } catch {
      return { ...no('The permission request could not be stored.'), isAsked: false };
    } finally {
      waiting.delete(permissionId);
    }
  };
}

interface Answered {
  readonly type: string;
  readonly permissionId: string;
  readonly decision: 'allow' | 'deny';
  readonly note: string | null;
  readonly always?: boolean;
}
/** `always`: the tool is not asked for again in this turn; later turns know it from the session's policy. */
interface Given {
  readonly answer: PermissionAnswer;
  readonly always: boolean;
}

const no = (reason: string): PermissionAnswer => ({
  allow: false,
  message: `${reason} Go on without this tool, or say in your answer what you would have done with it.`,
});

/** `Bash` names one tool, `mcp__docs__*` all that begin so. */
export const mayUse = ({ mode, allow }: ToolPolicy, tool: string): boolean =>
  mode === 'full' ||
  (mode === 'allow-list' &&
    allow.some((name) => (name.endsWith('*') ? tool.startsWith(name.slice(0, -1)) : tool === name)));
