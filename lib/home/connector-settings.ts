import * as z from 'zod';

/**
 * One configured way out to people. What else a type needs stands beside these, and is checked when it opens.
 */
const connectorInstance = z.looseObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be a-z first, then a-z, 0-9 or dashes')
    .describe('Name that people, agents and cron jobs use for it.'),
  type: z.string().min(1).max(64).describe('slack, discord, telegram, email or webhook.'),
  employee: z
    .string()
    .min(1)
    .max(64)
    .nullable()
    .default(null)
    .describe('Employee who answers messages sent through it.'),
  allowFrom: z
    .array(z.string().min(1).max(128))
    .max(1_000)
    .default([])
    .describe('Ids of senders who may write to the agents through it; "*" allows all. Empty: none.'),
});

export const connectors = z.strictObject({
  instances: z
    .array(connectorInstance)
    .max(100)
    .default([])
    .refine(
      (all) => new Set(all.map(({ name }) => name)).size === all.length,
      'two instances have the same name',
    )
    .describe(
      'Connectors: name, type, employee, allowFrom, settings of the type. POST /api/connectors/reload applies them.',
    ),
});
