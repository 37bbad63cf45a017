import * as z from 'zod';

/**
 * One configured way out to people. What else a type needs stands beside these: of the types that are built in see
 * `connectorTypes`; an instance whose own settings are wrong says so when it opens, and holds up no other.
 */
export const connectorInstance = z.looseObject({
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

const secret = (what: string) =>
  z
    .union(
      [
        z.string().min(1),
        z.strictObject({ env: z.string().min(1) }),
        z.strictObject({ file: z.string().min(1) }),
      ],
      'must be a text, {env: NAME} or {file: PATH}',
    )
    .describe(`${what} Better {env: NAME} or {file: PATH} than the value itself.`);
const timeoutSeconds = (standard: number) =>
  z.number().gt(0).max(60).default(standard).describe('Seconds until an unanswered request has failed.');
const apiRoot = (standard: string) =>
  z
    .url({ protocol: /^(?:https?|wss?)$/ })
    .default(standard)
    .describe('Address of the vendor, or of a proxy.');

/** The settings that each built-in type has beside those of every instance. */
export const connectorTypes = {
  slack: z.strictObject({
    botToken: secret('Token of the bot, xoxb-….'),
    appToken: secret('App-level token, xapp-…; needed to receive.').optional(),
    apiRoot: apiRoot('https://slack.com/api/'),
    timeoutSeconds: timeoutSeconds(15),
  }),
  discord: z.strictObject({
    botToken: secret('Token of the bot.'),
    apiRoot: apiRoot('https://discord.com/api'),
    timeoutSeconds: timeoutSeconds(15),
  }),
  telegram: z.strictObject({
    botToken: secret('Token of the bot.'),
    apiRoot: apiRoot('https://api.telegram.org'),
    timeoutSeconds: timeoutSeconds(20),
  }),
  email: z.strictObject({
    host: z.string().min(1).describe('Mail server (SMTP).'),
    port: z.int().min(1).max(65_535).default(587).describe('Its port.'),
    tls: z
      .enum(['required', 'implicit', 'none'])
      .default('required')
      .describe('How the connection is encrypted; none is for a server on this machine.'),
    user: z.string().min(1).nullable().optional().describe('Name at the server; absent: no login.'),
    password: secret('Password of user.').optional(),
    from: z.string().min(1).describe('Address of the sender.'),
    subject: z.string().min(1).default('Message').describe('Subject of every message.'),
    allowTo: z.array(z.string()).default([]).describe('Addresses or @domains that may be written to.'),
    timeoutSeconds: timeoutSeconds(20),
  }),
  webhook: z.strictObject({
    url: z.url({ protocol: /^https?$/ }).describe('Address that messages are posted to.'),
    secret: secret('Signs each message; at least 16 characters.'),
    timeoutSeconds: timeoutSeconds(10),
  }),
} as const;
