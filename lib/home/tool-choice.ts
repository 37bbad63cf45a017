import * as z from 'zod';

/**
 * Which of the gateway's tools stand in an agent's list: each costs room in every request to its model. The list is
 * no authority: an agent finds and calls the others as well, as far as it may.
 */
export const toolRoles = ['employee', 'manager', 'clerk', 'reviewer'] as const;
export type ToolRole = (typeof toolRoles)[number];

/** The set of a role, all of them, or these. */
export const toolChoice = z.union(
  [
    z.enum([...toolRoles, 'all']),
    z.array(z.string().regex(/^[a-z][a-z_]{0,63}$/, 'must be the name of a tool')).max(128),
  ],
  { error: `must be ${toolRoles.join(', ')}, all, or a list of tools' names` },
);
export type ToolChoice = z.infer<typeof toolChoice>;

/** `agents.tools` of config.yaml: what a role's agents are offered instead of its own set. */
export const toolChoices = z.strictObject({
  employee: toolChoice.default('employee').describe('Tools offered to agents without another role.'),
  manager: toolChoice.default('manager').describe('Tools offered to managers and executives.'),
  clerk: toolChoice.default('clerk').describe('Tools offered to sessions of the engine `clerk`.'),
  reviewer: toolChoice.default('reviewer').describe('Tools offered to reviews.'),
});
export type ToolChoices = z.infer<typeof toolChoices>;
