import { hostname, networkInterfaces } from 'node:os';
import { builtInConnectors } from '../actors/connectors/built-in.js';
import type { Connectors } from '../actors/connectors/registry.js';
import type { EngineRecord } from '../actors/engines/registry.js';
import { createAgents } from './agents.js';
import { purseOf } from './commands/budgets.js';
import { alignConnectors } from './commands/connectors.js';
import { createGateway, type Gateway } from './gateway/server.js';
import { isLoopback } from './gateway/origin.js';
import {
  announce,
  announceStopped,
  processStart,
  readAnnouncement,
  secretsOf,
  type Announcement,
} from './home/announce.js';
import { makeFolder, makePrivate, sweepTemporary } from './home/atomic-file.js';
import { backUp } from './home/backup.js';
import { connectorBook } from './home/connector-book.js';
import { readCertificate } from './home/certificate.js';
import type { Config } from './home/config.js';
import { configuredEngines } from './home/engines.js';
import { HomeError } from './home/home-error.js';
import { keepOthersOut } from './home/keep-others-out.js';
import { layoutOf, type Layout } from './home/layout.js';
import { watchConfig } from './home/live-config.js';
import { openLog } from './home/log.js';
import { logTail } from './home/log-tail.js';
import { readConfig } from './home/read-config.js';
import { shownConfig } from './home/shown-config.js';
import { followTodos } from './commands/workflow-runs/follow-todos.js';
import { followClock } from './commands/cron.js';
import { followEngines } from './commands/follow-engines.js';
import { followReviews } from './commands/work-items/open-review.js';
import { interruptedTurns, reportInterruptedTurns } from './commands/sessions/report-interrupted-turns.js';
import { followSchedules } from './commands/workflow-runs/follow-schedule.js';
import { wireWorkflows } from './commands/workflow-runs/ports.js';
import { openEvidence } from './records/evidence/evidence.js';
import { attachmentPath, homeKinds, inboxes, settingsOf } from './ports.js';
import { announceFact, openRecords } from './records/records.js';
import { StoreError } from './store/contract.js';
import { openLevelStore, type LevelStore, type LevelStoreOptions } from './store/level.js';
import type { Supervisor } from './supervisor/contract.js';
import { createSupervisor } from './supervisor/supervisor.js';
import { version } from './version.js';
import { systemEnvironment, type Environment } from './environment.js';

/**
 * The composition root: a home becomes a running gateway. From bottom to top – settings, lock and store,
 * engines, kinds, supervisor, gateway – and announced last, when it answers. Whatever fails takes down what
 * was already up; a home that another process holds is left as it was.
 */
export interface InstanceOptions {
  /** Folder of the home, or its whole layout. Default: SVC_HOME, else `~/.svc`. */
  readonly home?: string;
  readonly layout?: Layout;
  /** Over gateway.port of config.yaml; 0 takes any free port. */
  readonly port?: number;
  /** Over gateway.host of config.yaml. */
  readonly host?: string;
  /**
   * Where workflows leave their evidence; must exist. Default: SVC_WORKFLOW_EVIDENCE_ROOT, else the home's
   * workflow-evidence.
   */
  readonly evidenceRoot?: string;
  /** Told of progress on long work: the recovery of a damaged store. */
  readonly onProgress?: LevelStoreOptions['onProgress'];
}

export interface Instance {
  readonly url: string;
  readonly home: string;
  readonly engines: readonly EngineRecord[];
  readonly defaultEngine: string;
  /** Drain and stop: at most ten seconds; everything acknowledged is kept. Idempotent. */
  close(): Promise<void>;
}

/**
 * `const {url, close} = await serve({home: 'demo', port: 0})`. Rejects with a HomeError, a StoreError or the
 * system's error.
 */
export async function startInstance(options: InstanceOptions = {}): Promise<Instance> {
  const layout = options.layout ?? layoutOf({ home: options.home });
  const config = await readConfig(layout.config);
  await readAnnouncement(layout.announcement); // a damaged one is refused before anything is made or opened
  const closed = await keepOthersOut(layout);
  let url: string | undefined;
  const engines = configuredEngines(config, () => url, layout.engines);
  if (!engines.some(({ name }) => name === config.engines.default)) throw unknownDefault(config, layout);
  if (!config.gateway.authRequired && !isLoopback(options.host ?? config.gateway.host))
    throw new HomeError(
      'BAD_CONFIG',
      `${layout.config}, gateway.authRequired: false is not allowed when the gateway listens on the network.`,
      'Remove it, or bind to 127.0.0.1.',
    );
  const tls = await readCertificate(config, layout);
  await makeFolder(layout.home);
  const { log, setLevel, close: closeLog } = openLog(config.logging, layout);
  if (closed.length > 0) log.warn({ paths: closed }, 'removed write permission for group and others');
  const undo: (() => Promise<void>)[] = [closeLog];
  // One step that fails (a full disk, say) must not keep the others from their turn.
  const undoAll = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const step of undo.splice(0).reverse()) await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    const environment = systemEnvironment({ log });
    const store = await openStore(layout, environment, options.onProgress);
    undo.push(() => store.close());
    await sweepTemporary(layout.home);
    // What agents said is in there: nobody else's, even where the home itself was opened to others.
    for (const folder of [layout.engines, layout.store, layout.storeCopy, layout.logs])
      await makePrivate(folder);
    const live = watchConfig({ path: layout.config, initial: config, log });
    undo.push(async () => live.close());
    const secrets = secretsOf(await readAnnouncement(layout.announcement), () =>
      environment.random.secret(32),
    );
    const records = await openRecords({
      layout,
      environment,
      root: config.portal.root,
      allow: {
        get customPaths() {
          return live.current.gateway.allowFileCustomPaths;
        },
        get open() {
          return live.current.gateway.allowFileOpen;
        },
      },
    });
    undo.push(() => records.close());

    const evidence = await openEvidence({
      standard: layout.workflowEvidence,
      override: options.evidenceRoot ?? process.env['SVC_WORKFLOW_EVIDENCE_ROOT'],
    });
    if (!evidence.configured) log.warn({ reason: evidence.reason }, 'workflows are disabled');
    const open = gate();
    const purse = purseOf(() => supervisor, {
      roster: () => records.roster.value,
      enforce: () => live.current.budgets.enforce,
    });
    let gateway: Gateway | undefined;
    const connectors: Connectors = { ...connectorBook(config, layout), types: builtInConnectors };
    const workflows = wireWorkflows();
    const { kinds, registry, tokens } = createAgents({
      purse,
      evidence,
      workflows: workflows.ports,
      engines,
      defaultEngine: config.engines.default,
      workFolder: layout.work,
      gatewayUrl: () => url,
      opened: open.opened,
      log,
      ...limitsOf(config),
      connectors: builtInConnectors,
      connectorInstances: () => connectors.instances(),
      inboxOf: inboxes(connectors, () => gateway?.app),
      attachmentPath: (id) => attachmentPath(supervisor, layout, id),
      ...(config.agents.token === 'operator' ? { agentToken: secrets.token } : {}),
    });
    const kindsOfHome = homeKinds(layout, records, async () => {
      await open.opened;
      return (gateway as Gateway).app;
    });
    const cut = await interruptedTurns(store); // before anybody settles them
    const supervisor: Supervisor = await createSupervisor({
      store,
      environment,
      kinds: [...kinds, ...kindsOfHome],
      facts: { roster: records.roster.value },
      limits: { keepLogDays: config.log.keepDays, keepLogBytes: config.log.keepBytes },
    });
    undo.push(() => supervisor.stop({ drainMs: supervisorDrainMs }));
    await records.connect(supervisor);
    const following = followEngines(supervisor, registry);
    undo.push(async () => following.close());
    live.onChange((change) => {
      setLevel(live.current.logging.level);
      const { type, ...payload } = change;
      void announceFact(supervisor, type === 'taken' ? 'config:reloaded' : 'config:refused', payload);
    });

    const { host, port, authRequired } = { ...config.gateway, ...chosen(options) };
    const opened = (gateway = await createGateway({
      supervisor,
      registry,
      tokens,
      operatorToken: secrets.token,
      host,
      port,
      authRequired,
      tls,
      allowedHosts: () => live.current.gateway.allowedHosts,
      allowedOrigins: () => live.current.gateway.allowedOrigins,
      instance: layout.instance,
      version,
      log,
      settings: settingsOf(() => live.current, layout),
      records,
      connectors,
      evidence,
      workflows,
      console: { config: () => shownConfig(live.current), log: (linesMax) => logTail(layout.log, linesMax) },
      backup: (target) => backUp(layout, target, (folder) => store.backUp(folder), environment.clock.now()),
    }));
    undo.push(() => opened.close(gatewayDrainMs));
    const localHost = tls === undefined ? opened.host : '127.0.0.1';
    url = reachable(localHost, opened.localPort);
    const publicUrl =
      tls === undefined && isLoopback(opened.host)
        ? undefined
        : addressed(opened, tls === undefined ? 'http' : 'https');

    const announcement: Announcement = {
      host: localHost,
      port: opened.localPort,
      pid: process.pid,
      pidStart: await processStart(process.pid),
      url,
      ...(publicUrl !== undefined && { publicUrl }),
      instance: layout.instance,
      ...secrets,
    };
    await announce(layout.announcement, announcement);
    // Runs after the gateway has closed and before the lock is released: a successor's file is never
    // overwritten.
    undo.splice(-1, 0, () => announceStopped(layout.announcement, announcement));
    // Agents of an earlier life go on only now, when there is a gateway for them to speak to.
    registry.refresh();
    open.open();
    const todos = followTodos(opened.app, (error) =>
      log.error({ err: error }, 'could not process changes of work items'),
    );
    undo.push(async () => todos.close());
    opened.app.wakers = todos;
    await todos.look();
    const reviews = followReviews(opened.app, (error) =>
      log.error({ err: error }, 'could not open a review'),
    );
    undo.push(async () => reviews.close());
    opened.app.reviews = reviews;
    await reviews.look();
    const clock = followClock(opened.app, (error) =>
      log.error({ err: error }, 'could not notify cron jobs that the clock was set back'),
    );
    undo.push(async () => clock.close());
    const reporting = reportInterruptedTurns(supervisor, cut, (error) =>
      log.error({ err: error }, 'could not report interrupted turns'),
    );
    undo.push(async () => reporting.close());
    void followSchedules(opened.app).catch((error: unknown) =>
      log.error({ err: error }, 'could not check the schedules of workflows'),
    );
    for (const [connector, reason] of (await alignConnectors(supervisor, connectors)).errors)
      log.error({ connector, reason }, 'could not apply the configuration of a connector');

    let closing: Promise<void> | undefined;
    const found = Object.values((await registry.list()).engines);
    return {
      url,
      home: layout.home,
      engines: found,
      defaultEngine: config.engines.default,
      close: () => (closing ??= undoAll()),
    };
  } catch (error) {
    await undoAll().catch(() => undefined);
    throw error;
  }
}

// Together less than the ten seconds that a stop may take.
const gatewayDrainMs = 2_000;
const supervisorDrainMs = 7_500;

async function openStore(
  layout: Layout,
  { log }: Environment,
  onProgress: InstanceOptions['onProgress'],
): Promise<LevelStore> {
  try {
    return await openLevelStore({
      directory: layout.home,
      log,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'LOCKED') throw error;
    const holder = await readAnnouncement(layout.announcement).catch(() => undefined);
    const where = holder?.pid == null ? '' : ` (${holder.url}, process ${holder.pid})`;
    throw new StoreError(
      'LOCKED',
      `Another process already holds the home ${layout.home}${where}. Use it, stop it with ` +
        '"troupe stop", or choose another home with --home.',
      { cause: error },
    );
  }
}

function unknownDefault(config: Config, layout: Layout): HomeError {
  return new HomeError(
    'BAD_CONFIG',
    `${layout.config}, engines.default: unknown engine "${config.engines.default}".`,
    'Use a configured engine, or "clerk".',
  );
}

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const limitsOf = ({ engines, sessions, approvals }: Config) => ({
  maxProcesses: engines.maxProcesses,
  turnDeadlineMs: sessions.turnDeadlineMinutes * 60_000,
  silenceMs: sessions.silenceMinutes * 60_000,
  permissionWaitMs: sessions.permissionWaitMinutes * 60_000,
  escalateAfterMs: approvals.escalateAfterHours * 3_600_000,
});

const chosen = ({ host, port }: InstanceOptions) => ({
  ...(host === undefined ? {} : { host }),
  ...(port === undefined ? {} : { port }),
});

/** How others reach it: of a wildcard, by the first address of this machine. */
function addressed({ host, port }: Gateway, scheme: string): string {
  const own = Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;
  const address = host === '0.0.0.0' || host === '::' ? (own ?? hostname()) : host;
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** A wildcard is an address to bind to, not one to go to. */
function reachable(host: string, port: number): string {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
