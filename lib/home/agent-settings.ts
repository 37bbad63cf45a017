import * as z from 'zod';
import { sandboxLevels } from '../../actors/sandbox/levels.js';

/**
 * Which of the gateway's tools stand in an agent's list: each costs room in every request to its model. The list is
 * no authority: an agent finds and calls the others as well, as far as it may.
 */
export const toolRoles = ['employee', 'manager', 'clerk', 'reviewer'] as const;
export type ToolRole = (typeof toolRoles)[number];

export const toolChoiceWords = `${toolRoles.join(', ')}, all, or a list of tools' names`;

/** The set of a role, all of them, or these. */
export const toolChoice = z.union(
  [
    z.enum([...toolRoles, 'all']),
    z.array(z.string().regex(/^[a-z][a-z_]{0,63}$/, 'must be the name of a tool')).max(128),
  ],
  { error: `must be ${toolChoiceWords}` },
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

/**
 * How much one agent may begin: sessions, work items, runs, and bytes of what it sends. Bounds that no one meets
 * who works, and that keep an agent in a circle from filling the machine.
 */
export const standardQuotas = {
  sessions: { hour: 300, total: 20_000 },
  items: { hour: 1_000, total: 100_000 },
  runs: { hour: 300, total: 50_000 },
  bytes: { hour: 256 << 20, total: 16 * 2 ** 30 },
} as const;
export type Quotas = Readonly<
  Record<keyof typeof standardQuotas, { readonly hour: number; readonly total: number }>
>;

/** Per hour and in all. */
const quota = (what: string, { hour, total }: { readonly hour: number; readonly total: number }) =>
  z
    .strictObject({
      hour: z.int().min(0).default(hour).describe(`${what} that one agent may begin in an hour.`),
      total: z.int().min(0).default(total).describe(`${what} that one agent may begin in all.`),
    })
    .prefault({});

/** `agents` of config.yaml: what the programs of agents are given, and how far they are kept. */
export const agents = z.strictObject({
  token: z
    .enum(['session', 'operator'])
    .default('session')
    .describe("Token for spawned agents: one per session, or (where unavoidable) the operator's."),
  sandbox: z
    .enum(sandboxLevels)
    .default('home')
    .describe(
      "How far agents, polls and git are kept from this machine: off; home: not into the gateway's home; " +
        'workspace: writes only the working folder, no keys; strict: also no network but named hosts. ' +
        'Employees may be kept further.',
    ),
  worker: z
    .boolean()
    .default(true)
    .describe(
      'true runs turns in a process of their own that outlives the gateway: a restart, an upgrade or a crash of ' +
        'the gateway does not cut them. false ends them with the gateway.',
    ),
  workerWaitSeconds: z
    .int()
    .min(5)
    .max(3_600)
    .default(60)
    .describe(
      'How long a worker on another machine lets its turns go on without its gateway; a little later the gateway ' +
        'calls them interrupted.',
    ),
  resume: z
    .boolean()
    .default(false)
    .describe(
      'true lets turns that the end of the gateway cut off go on by themselves; false: when a person says so ' +
        '("troupe resume").',
    ),
  sandboxRequired: z
    .boolean()
    .default(false)
    .describe('true runs no agent that cannot be confined as asked.'),
  sandboxHosts: z
    .array(z.string().regex(/^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$/, 'must be a host or host:port'))
    .max(200)
    .default([])
    .describe(
      "Hosts that agents reach at the level strict, beside their engine's provider; port 443 unless given.",
    ),
  memoryMegabytesMax: z
    .int()
    .min(0)
    .max(1 << 24)
    .nullable()
    .default(null)
    .describe(
      'Memory of a confined turn where systemd makes it a scope, else of each of its processes. Default: three ' +
        'quarters of the machine; 0: not bounded.',
    ),
  tools: toolChoices.prefault({}),
  quotas: z
    .strictObject({
      sessions: quota('Sessions', standardQuotas.sessions),
      items: quota('Work items', standardQuotas.items),
      runs: quota('Workflow runs', standardQuotas.runs),
      bytes: quota('Bytes of requests', standardQuotas.bytes),
    })
    .prefault({}),
});
