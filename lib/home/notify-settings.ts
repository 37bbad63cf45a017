import * as z from 'zod';

/** Where what waits for a person is sent, and how long it is held back. */
const destination = z.strictObject({
  connector: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be the name of a connector')
    .describe('Name of a configured connector.'),
  channel: z.string().min(1).max(128).describe('Channel, chat or address, as the connector names it.'),
  decidedBy: z
    .array(
      z
        .string()
        .min(1)
        .max(128)
        .refine((id) => id !== '*', 'must list ids of people; "*" would let everyone in the channel decide'),
    )
    .max(100)
    .default([])
    .describe('Ids of people there whose buttons count. Empty: no buttons, only a link.'),
});

export const notify = z.strictObject({
  to: z
    .array(destination)
    .max(20)
    .default([])
    .refine(
      (all) => new Set(all.map(({ connector, channel }) => `${connector} ${channel}`)).size === all.length,
      'two destinations are the same',
    )
    .describe('Channels that receive what waits for a person: connector, channel, decidedBy.'),
  command: z
    .array(z.string().max(4_096))
    .min(1)
    .max(64)
    .nullable()
    .default(null)
    .describe('Program and its arguments that receives what waits as JSON on stdin. No shell is involved.'),
  push: z
    .boolean()
    .default(true)
    .describe('Whether paired browsers that ask for it receive what waits as Web Push.'),
  what: z
    .array(z.string().min(1).max(64))
    .max(50)
    .default([])
    .describe('Only these: permission, approval, gate, resume, delivery … Empty: everything.'),
  afterSeconds: z
    .number()
    .min(0)
    .max(86_400)
    .default(30)
    .describe('What is decided within this time is not sent.'),
  timeoutSeconds: z
    .number()
    .min(1)
    .max(300)
    .default(30)
    .describe('How long one message, or one run of the program, may take.'),
  url: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null)
    .describe('Where people reach the console; links begin with it. Default: the address of the gateway.'),
});

export type NotifySettings = z.infer<typeof notify>;
