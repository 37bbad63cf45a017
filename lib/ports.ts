import { join } from 'node:path';
import type { Inbox } from '../actors/connectors/connector.js';
import type { Connectors } from '../actors/connectors/registry.js';
import type { EffectContext, Kind } from '../actors/contracts.js';
import { clearingEffect, proofEffect } from '../actors/pairing/proof.js';
import { cronFireKind } from '../actors/cron-fire/kind.js';
import { fileKind } from '../actors/file/kind.js';
import { heldDecisionKind } from '../actors/held-decision/kind.js';
import { messageEffect } from '../actors/notifier/effect.js';
import { notifierKind } from '../actors/notifier/kind.js';
import type { ConnectorLinks } from '../actors/connector/links.js';
import { homeKind } from '../actors/home/kind.js';
import { deviceEffect, pairingCodeKind } from '../actors/pairing-code/kind.js';
import { pairingKind } from '../actors/pairing/kind.js';
import { pollCheckEffect } from '../actors/poll/check.js';
import { pollKind, type PollEffects } from '../actors/poll/kind.js';
import { scheduleKind } from '../actors/schedule/kind.js';
import { workerKind } from '../actors/worker/kind.js';
import { untilWritten } from '../actors/until-written.js';
import { triggerKind } from '../actors/trigger/kind.js';
import type { LaunchInput, RunLine } from '../machines/cron-fire/machine.js';
import type { CarryOutInput } from '../machines/held-decision/machine.js';
import type { SilenceRule } from '../machines/session/context.js';
import type { FireInput } from '../machines/poll/machine.js';
import { launchFire } from './commands/cron.js';
import { sendToBrowser } from './commands/notifications/browser-push.js';
import type { App, AppParts, Settings } from './commands/app.js';
import { firePoll } from './commands/workflows/polls.js';
import { launchScheduled } from './commands/workflow-runs/follow-schedule.js';
import { receiveMessage } from './commands/sessions/receive-message.js';
import { answerNotice, carryOutDecision } from './gateway/decide-waiting.js';
import type { Post } from './gateway/in-process.js';
import type { Config } from './home/config.js';
import type { LiveConfig } from './home/live-config.js';
import { engineTools } from './home/engines.js';
import type { Layout } from './home/layout.js';
import type { HomeSandbox } from './home/sandbox.js';
import type { Allowances, Records } from './records/records.js';

/**
 * What the parts of a home lend each other: effects that reach into files and commands, and settings as they
 * are now. The composition root (instance.ts) only puts them together.
 */

/** The app of an effect: all that there was before the supervisor, and the supervisor that runs the effect. */
export type AppOf = (context: Pick<EffectContext, 'supervisor'>) => App;

export interface HomeParts {
  readonly layout: Layout;
  readonly records: Records;
  readonly sandbox: HomeSandbox;
  readonly links: ConnectorLinks;
  readonly parts: AppParts;
  readonly post: Post;
}

/** The kinds that a home has beside agents: its files, its browsers, its schedules. */
export const homeKinds = (
  { layout, records, sandbox, links, parts, post }: HomeParts,
  app: AppOf,
): readonly Kind[] =>
  [
    homeKind(),
    workerKind(),
    fileKind(),
    scheduleKind(),
    triggerKind(),
    pollKind(pollEffects(layout, sandbox, app)),
    cronFireKind(cronEffects(records, app)),
    notifierKind({
      message: messageEffect({
        links,
        folder: layout.home,
        push: (device, message, context) => sendToBrowser(app(context), device, message, context.signal),
        ...noticesOf(parts),
      }),
    }),
    heldDecisionKind({
      decide: {
        guarantee: 'at-least-once',
        run: (input: CarryOutInput, context) => carryOutDecision(app(context), post, input),
      },
    }),
    ...pairingKinds(layout, records),
  ] as readonly Kind[]; // each kind knows its own machine; a list of them knows only that they are kinds

/** What notifiers read of the settings, at every message. */
const noticesOf = ({ settings, redact }: AppParts) => ({
  settings: () => settings.notify ?? nowhere,
  ...(redact && { redact }),
});
const nowhere = { command: null, timeoutSeconds: 30, to: [] };

/** Programs that look for events: each in a folder of its own; what they find starts a run. */
function pollEffects({ polls }: Layout, { confine }: HomeSandbox, app: AppOf): PollEffects {
  return {
    check: pollCheckEffect({ folder: polls, confine }),
    fire: { guarantee: 'at-least-once', run: (input: FireInput, context) => firePoll(app(context), input) },
  };
}

/** What a run of a cron job needs: to be opened, and to be written down. */
function cronEffects(records: Records, app: AppOf): Parameters<typeof cronFireKind>[0] {
  return {
    launch: {
      guarantee: 'at-least-once',
      run: (input: LaunchInput, context) => {
        const { workflowId } = input.job;
        // A disk that is full for a moment must not cost the run; launched again, it finds what is there
        return untilWritten(
          () =>
            workflowId === null
              ? launchFire(app(context), input)
              : launchScheduled(app(context), workflowId, input),
          context.signal,
        );
      },
    },
    record: {
      guarantee: 'at-least-once',
      run: ({ jobId, line }: { readonly jobId: string; readonly line: RunLine }) =>
        records.runs.append(jobId, line),
    },
  };
}

/** A connector listens only where someone may write to it, or decide. */
export function inboxes(
  connectors: Connectors,
  app: AppOf,
  post: Post,
): (name: string, context: EffectContext) => Inbox | undefined {
  return (name, context) => {
    const mayWrite =
      (connectors.instances().find((instance) => instance.name === name)?.allowFrom?.length ?? 0) > 0;
    const mayDecide = (app(context).settings.notify?.to ?? []).some(
      ({ connector, decidedBy }) => connector === name && decidedBy.length > 0,
    );
    if (!mayWrite && !mayDecide) return undefined;
    return async (message) => {
      if (message.choice !== undefined)
        return answerNotice(app(context), post, name, message).catch((error: unknown) => {
          // Who pressed may press again; to hear of it again and again would hold up all messages behind it
          app(context).supervisor.environment.log.error({ err: error, connector: name }, 'a button failed');
          return 'It could not be decided here. Open the link.';
        });
      if (mayWrite) await receiveMessage(app(context), name, message);
    };
  };
}

/** Pairing, whose hands touch files of the home. */
const pairingKinds = (at: Layout, { devices }: Records): readonly Kind[] =>
  [
    pairingKind({ proof: proofEffect(at), clearing: clearingEffect(at) }),
    pairingCodeKind({ device: deviceEffect({ keep: (device) => devices.keep(device) }) }),
  ] as readonly Kind[]; // each kind knows its own machine; a list of them knows only that they are kinds

/**
 * Where the bytes of a managed file lie, for agents, who work on the same machine. One that was removed lies nowhere:
 * its empty path would be the home itself, which their cages would let them read.
 */
export const attachmentPath =
  ({ home }: Layout) =>
  async (id: string, { supervisor }: EffectContext): Promise<string | undefined> => {
    const file = await supervisor.get('file', id);
    const { path } = (file?.view ?? {}) as { readonly path?: unknown };
    return file?.value === 'stored' && typeof path === 'string' && path !== '' ? join(home, path) : undefined;
  };

/** What commands know of config.yaml: one object, so that a change of the file holds from the next use on. */
export function settingsOf(live: LiveConfig, { home }: Layout, url: string): Settings {
  const settings = settingsIn(live.current, home, url);
  live.onChange(() => Object.assign(settings, settingsIn(live.current, home, url)));
  return settings;
}

const settingsIn = (
  { engines, notify, sessions, approvals, portal, agents, gateway }: Config,
  home: string,
  url: string,
): Settings => ({
  home,
  notify,
  consoleUrl: (notify.url ?? url).replace(/\/+$/, ''),
  sessionRoots: sessions.roots,
  sessionCwd: sessions.cwd,
  sessionWorktree: sessions.worktree,
  commitTurns: sessions.commitTurns,
  keepWorktreeDays: sessions.keepWorktreeDays,
  keepToolOutputDays: sessions.keepToolOutput === 'keep' ? undefined : sessions.keepToolOutput,
  interruptOnNewMessage: sessions.interruptOnNewMessage,
  turnDeadlineMs: sessions.turnDeadlineMinutes * 60_000,
  escalateAfterMs: approvals.escalateAfterHours * 3_600_000,
  companyName: portal.companyName,
  companyPrefix: portal.companyPrefix,
  timeZone: portal.timeZone ?? undefined,
  agentQuotas: agents.quotas,
  agentTools: agents.tools,
  engineTools: engineTools({ engines }),
  socketsMax: gateway.socketsMax,
});

/** What people may do with files, as config.yaml says now. */
export const allowancesOf = (now: () => Config): Allowances => ({
  get customPaths() {
    return now().gateway.allowFileCustomPaths;
  },
  get open() {
    return now().gateway.allowFileOpen;
  },
});

/** What a start decides, and a reload does not change. */
export const limitsOf = ({ engines, sessions, approvals }: Config) => ({
  maxProcesses: engines.maxProcesses,
  turnDeadlineMs: sessions.turnDeadlineMinutes * 60_000,
  permissionWaitMs: sessions.permissionWaitMinutes * 60_000,
  escalateAfterMs: approvals.escalateAfterHours * 3_600_000,
});

/** What holds for the next turn, as config.yaml says now: when it counts as silent, and whether it is resumed. */
export const turnRulesOf = (
  live: LiveConfig,
): { readonly silence: () => SilenceRule; readonly resumes: () => boolean } => ({
  silence: () => {
    const { silenceMinutes, silenceAction } = live.current.sessions;
    return { ms: silenceMinutes * 60_000, action: silenceAction };
  },
  resumes: () => live.current.agents.resume,
});
