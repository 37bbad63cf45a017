import * as z from 'zod';
import { sandboxLevels } from '../../actors/sandbox/levels.js';

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
});
