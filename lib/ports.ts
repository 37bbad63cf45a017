import { join } from 'node:path';
import type { Inbox } from '../actors/connectors/connector.js';
import type { Connectors } from '../actors/connectors/registry.js';
import type { AtLeastOnceEffect, Kind } from '../actors/contracts.js';
import { deviceEffect } from '../actors/effects/pair-device.js';
import { clearingEffect, proofEffect } from '../actors/effects/pair-proof.js';
import { cronFireKind } from '../actors/kinds/cron-fire.js';
import { fileKind } from '../actors/kinds/file.js';
import { homeKind } from '../actors/kinds/home.js';
import { pairingCodeKind } from '../actors/kinds/pairing-code.js';
import { pairingKind } from '../actors/kinds/pairing.js';
import { pollCheckEffect } from '../actors/effects/poll-check.js';
import { pollKind, type PollEffects } from '../actors/kinds/poll.js';
import { scheduleKind } from '../actors/kinds/schedule.js';
import { triggerKind } from '../actors/kinds/trigger.js';
import type { LaunchInput, RunLine } from '../machines/cron-fire/machine.js';
import type { FireInput } from '../machines/poll/machine.js';
import { launchFire } from './commands/cron.js';
import type { App, Settings } from './commands/app.js';
import { firePoll } from './commands/workflows/polls.js';
import { launchScheduled } from './commands/workflow-runs/follow-schedule.js';
import { receiveMessage } from './commands/sessions/receive-message.js';
import type { Config } from './home/config.js';
import type { Layout } from './home/layout.js';
import type { Records } from './records/records.js';
import type { Supervisor } from './supervisor/contract.js';

/**
 * What the parts of a home lend each other: hands that reach into files and commands, and settings as they
 * are now. The composition root (serve.ts) only puts them together.
 */

/**
 * The kinds that a home has beside agents: its files, its browsers, its schedules. `app` resolves once the
 * gateway is up.
 */
export const homeKinds = (layout: Layout, records: Records, app: () => Promise<App>): readonly Kind[] =>
  [
    homeKind(),
    fileKind(),
    scheduleKind(),
    triggerKind(),
    pollKind(pollEffects(layout, app)),
    cronFireKind(cronEffects(records, app)),
    ...pairingKinds(layout, records),
  ] as readonly Kind[]; // each kind knows its own machine; a list of them knows only that they are kinds

/** Programs that look for events: each in a folder of its own; what they find starts a run. */
function pollEffects({ polls }: Layout, app: () => Promise<App>): PollEffects {
  return {
    check: pollCheckEffect({ folder: polls }),
    fire: { guarantee: 'at-least-once', run: async (input: FireInput) => firePoll(await app(), input) },
  };
}

/**
 * What a run of a cron job needs of the house: opened only when there is a gateway for its agents to speak
 * to.
 */
function cronEffects(
  records: Records,
  app: () => Promise<App>,
): { readonly launch: AtLeastOnceEffect; readonly record: AtLeastOnceEffect } {
  return {
    launch: {
      guarantee: 'at-least-once',
      run: async (input: LaunchInput) => {
        const { workflowId } = input.job;
        return workflowId === null
          ? launchFire(await app(), input)
          : launchScheduled(await app(), workflowId, input);
      },
    },
    record: {
      guarantee: 'at-least-once',
      run: ({ jobId, line }: { readonly jobId: string; readonly line: RunLine }) =>
        records.runs.append(jobId, line),
    },
  };
}

/**
 * An instance listens only where somebody may write to it; until the gateway is up, the far side keeps what
 * it has.
 */
export function inboxes(
  connectors: Connectors,
  app: () => App | undefined,
): (name: string) => Inbox | undefined {
  return (name) =>
    (connectors.instances().find((instance) => instance.name === name)?.allowFrom?.length ?? 0) === 0
      ? undefined
      : async (message) => {
          const open = app();
          if (open === undefined) throw new Error('the gateway has not started yet');
          await receiveMessage(open, name, message);
        };
}

/** Pairing, whose hands touch files of the home. */
const pairingKinds = (at: Layout, { devices }: Records): readonly Kind[] =>
  [
    pairingKind({ proof: proofEffect(at), clearing: clearingEffect(at) }),
    pairingCodeKind({ device: deviceEffect({ keep: (device) => devices.keep(device) }) }),
  ] as readonly Kind[]; // each kind knows its own machine; a list of them knows only that they are kinds

/** Where the bytes of a managed file lie, for agents, who work on the same machine. */
export async function attachmentPath(
  supervisor: Supervisor,
  { home }: Layout,
  id: string,
): Promise<string | undefined> {
  const path = (await supervisor.get('file', id))?.view as { readonly path?: unknown } | undefined;
  return typeof path?.path === 'string' ? join(home, path.path) : undefined;
}

/** Asked at every use, so that a change of config.yaml holds from the next one on. */
export function settingsOf(now: () => Config, { home }: Layout): Settings {
  return {
    home,
    get sessionRoots() {
      return now().sessions.roots;
    },
    get sessionCwd() {
      return now().sessions.cwd;
    },
    get sessionWorktree() {
      return now().sessions.worktree;
    },
    get interruptOnNewMessage() {
      return now().sessions.interruptOnNewMessage;
    },
    get turnDeadlineMs() {
      return now().sessions.turnDeadlineMinutes * 60_000;
    },
    get escalateAfterMs() {
      return now().approvals.escalateAfterHours * 3_600_000;
    },
    get companyName() {
      return now().portal.companyName;
    },
    get companyPrefix() {
      return now().portal.companyPrefix;
    },
    get socketsMax() {
      return now().gateway.socketsMax;
    },
  };
}
