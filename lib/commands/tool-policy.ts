import type { Employee, ToolMode } from './desk.js';

/** What a new session's agent may do without asking: as its employee's file says, else nothing. */
export function toolPolicyOf(employee: Employee | null): { mode: ToolMode; allow: string[] } {
  const { permissions = 'ask' } = employee ?? {};
  if (typeof permissions === 'string') return { mode: permissions, allow: [] };
  return { mode: permissions.mode, allow: (permissions.allow ?? []).slice(0, toolsMax) };
}

const toolsMax = 100;
