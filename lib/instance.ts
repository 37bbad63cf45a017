import { builtInConnectors } from '../actors/connectors/built-in.js';
import type { Connector } from '../actors/connectors/connector.js';
import type { Kind } from '../actors/contracts.js';
import type { Engine } from '../actors/engines/engine.js';
import { createConnectorLinks } from '../actors/connector/links.js';
import { createConnectorRegistry, type Connectors } from '../actors/connectors/registry.js';
import { createPool } from '../actors/engines/pool.js';
import { createLiveWords } from '../actors/session/live-words.js';
import { createEngineRegistry, type EngineRecord } from '../actors/engines/registry.js';
import { createSessionTokens, type SessionTokens } from '../actors/engines/tokens.js';
import { agentKinds } from './agents.js';
import { timeZoneOf, type App, type AppParts } from './commands/app.js';
import { budgetPortOf } from './commands/budgets.js';
import { postOnceServed } from './gateway/in-process.js';
import { sessionLinks } from './gateway/session-links.js';
import type { Route } from './gateway/route.js';
import { enginesOf, openHome, type Departure } from './open-home.js';
import { Opened } from './opened.js';
import { createGateway } from './gateway/server.js';
import { addressesOf } from './gateway/listeners.js';
import { announce, announcementHere, announceStopped } from './home/announce.js';
import { backUp } from './home/backup.js';
import { connectorBook } from './home/connector-book.js';
import { processShares } from './home/engines.js';
import { layoutOf, type Layout } from './home/layout.js';
import { heldCopies } from './home/held-copies.js';
import { hasStandby, stageOf } from './home/open-store.js';
import { logTail } from './home/log-tail.js';
import { keepOutput } from './commands/sessions/keep-output.js';
import { redactor } from '../machines/redact.js';
import { watchChanges } from './commands/sessions/turn-changes.js';
import { worktreeTurns } from './commands/sessions/worktree.js';
import { isTrustedIn } from './commands/trust.js';
import { homeSandbox } from './home/sandbox.js';
import { remoteConfig } from './home/edit-config.js';
import { failed, followAudit, followBackups, startFollowing } from './following.js';
import { followTodos } from './commands/workflow-runs/follow-todos.js';
import { keysOf } from './commands/workflows/triggers.js';
import { followEngines } from './commands/follow-engines.js';
import { followWaiting } from './commands/notifications/follow-waiting.js';
import { followReviews } from './commands/work-items/open-review.js';
import { interruptedTurns } from './commands/sessions/report-interrupted-turns.js';
import { workflowPorts } from './commands/workflow-runs/ports.js';
import { openEvidence } from './records/evidence/evidence.js';
import {
  allowancesOf,
  attachmentPath,
  homeKinds,
  inboxes,
  limitsOf,
  settingsOf,
  turnRulesOf,
  type AppOf,
} from './ports.js';
import { audited } from './commands/authority/audited.js';
import { announceFact, openRecords } from './records/records.js';
import type { LevelStoreOptions } from './store/level.js';
import { createSupervisor } from './supervisor/supervisor.js';
import { version } from './version.js';
import { noteBuild } from './home/written-by.js';
import { isAskedToEndTurns } from './worker/end-workers.js';
import { homeWorkers } from './worker/home-workers.js';

/** The composition root: a home becomes a running gateway. What fails takes down what was already up. */
export interface InstanceOptions {
  /** Folder of the home, or its whole layout. Default: SVC_HOME, else `~/.svc`. */
  readonly home?: string;
  /** The home's files one by one, in place of `home`. */
  readonly layout?: Layout;
  /** Over gateway.port of config.yaml; 0 takes any free port. */
  readonly port?: number;
  /** Over gateway.host of config.yaml. */
  readonly host?: string;
  /** Where workflows leave evidence; must exist. Default: SVC_WORKFLOW_EVIDENCE_ROOT, else below the home. */
  readonly evidenceRoot?: string;
  /** Of the program's own, beside those of its `modules:`. */
  readonly kinds?: readonly Kind[];
  /** Beside the built-in ones and those of `modules:`; one takes the place of its namesake. */
  readonly engines?: readonly Engine[];
  /** Types of connectors beside the built-in ones. */
  readonly connectors?: readonly Connector[];
  /** Under paths that the gateway has not. */
  readonly routes?: readonly Route[];
  /** True: turns in progress go on for 15 minutes after `close`, in a process of their own, where the next
   * instance of the home takes them up. Default: `close` ends them, and nothing of theirs outlives it. */
  readonly keepTurns?: boolean;
  /** Told of progress on long work: the recovery of a damaged store. */
  readonly onProgress?: LevelStoreOptions['onProgress'];
  /**
   * Another node owns the home: wait as its standby, until the signal that is answered aborts, and forward to it what
   * comes to `url`. Absent: LOCKED.
   */
  readonly onStandby?: (owner: string, url: string) => AbortSignal;
  /** True: the database has lost commits that this node knows of, and a person goes on without them. */
  readonly acceptLoss?: boolean;
}

/** A home that runs. Close it before the program ends. */
export interface Instance {
  /** Where its gateway is reached. */
  readonly url: string;
  /** Absolute path of the home's folder. */
  readonly home: string;
  /** What was found at the start. */
  readonly engines: readonly EngineRecord[];
  /** Name of the engine of sessions that name none. */
  readonly defaultEngine: string;
  /** What commands and routes reach; its supervisor runs the kinds. */
  readonly app: App;
  /** Of agents' sessions. */
  readonly tokens: SessionTokens;
  /** Resolves where the home goes to another node: close this instance, and start one that waits. */
  readonly departed: Promise<Departure>;
  /** Turns that went on without it when it was closed; none without `keepTurns`. */
  readonly turnsLeft: () => number;
  /** Drain and stop: at most ten seconds; everything acknowledged is kept. Idempotent. */
  close(): Promise<void>;
}

/**
 * Rejects with a HomeError, a StoreError (LOCKED: another process holds the home) or the system's error.
 * @example const instance = await startInstance({ home: 'demo', port: 0, engines: [echo] });
 */
export async function startInstance(options: InstanceOptions = {}): Promise<Instance> {
  const opened = new Opened();
  try {
    return await open(options, opened);
  } catch (error) {
    await opened.close().catch(() => undefined);
    throw error;
  }
}

async function open(options: InstanceOptions, closing: Opened): Promise<Instance> {
  const layout = options.layout ?? layoutOf({ home: options.home });
  const { engines: given = [], onProgress, onStandby, acceptLoss } = options;
  const at = { host: options.host, port: options.port };
  const opened = await openHome(layout, closing, { at, engines: given, onProgress, onStandby, acceptLoss });
  const { config, environment, store, listeners, live, secrets, tls, modules, departed, depart, telemetry } =
    opened;
  const { log } = environment;
  const { host, authRequired } = opened.gateway;
  const ownEngines = [...given, ...modules.engines];
  const { localHost, url, publicUrl } = addressesOf(listeners, host, tls !== undefined);

  const records = await openRecords({
    layout,
    environment,
    root: config.portal.root,
    allow: allowancesOf(() => live.current),
  });
  closing.add(() => records.close());
  const evidence = await openEvidence({
    standard: layout.workflowEvidence,
    override: options.evidenceRoot ?? process.env['SVC_WORKFLOW_EVIDENCE_ROOT'],
  });
  if (!evidence.configured) log.warn({ reason: evidence.reason }, 'workflows are disabled');

  const sandbox = homeSandbox({ layout, config: () => live.current, records });
  const redact = redactor([secrets.token, secrets.secret]);
  const { keepTurns: keepsTurns = false } = options;
  const common = { config, layout, gatewayUrl: url, redact, log };
  const workers = homeWorkers({ ...common, ownEngines, keepsTurns, store });
  let isDeparted = false;
  void departed.then(() => {
    isDeparted = true;
    workers.keepNoneHere(); // the next owner could not find them
  });
  const registry = createEngineRegistry({
    engines: enginesOf(config, ownEngines, layout, () => url).map(workers.hearing),
    default: config.engines.default,
    lacking: sandbox.lacking,
  });

  const types = [...builtInConnectors, ...(options.connectors ?? []), ...modules.connectors];
  const connectors: Connectors = { ...connectorBook(config, layout), types };
  const tokens = createSessionTokens();
  const words = createLiveWords();
  const { hosts } = sandbox;
  const openLink = sessionLinks({ folder: layout.run, tokens, gatewayUrl: () => url, hosts });
  const roster = () => records.roster.value;
  const { maxProcesses, ...limits } = limitsOf(config);
  const { remote } = workers;
  const pool = createPool({ maxProcesses, perEngine: processShares(config), places: remote.places });
  remote.onChange(pool.serve);

  const parts: AppParts = {
    engines: registry,
    settings: settingsOf(live, layout, publicUrl ?? url),
    roster,
    records,
    connectors,
    evidence,
    sandbox,
    redact,
    keyFor: keysOf(secrets.token),
    erasure: {
      compact: async () => store.compact?.(),
      heldBy: () => heldCopies(layout, live.current.backup),
    },
    subscribers: followTodos(failed(log, 'could not process changes of work items')),
    words,
    placeInQueue: (sessionId) => pool.position(sessionId),
    ...(telemetry && { noteTool: telemetry.noteTool }),
    workers: { ...workers, slots: pool.stats, stranded: pool.stranded },
    reviews: followReviews(failed(log, 'could not open a review')),
    notifications: followWaiting(failed(log, 'could not notify of what waits')),
  };

  const links = createConnectorLinks(createConnectorRegistry({ connectors: types, ...connectors }));
  const { post, served } = postOnceServed();
  const appOf: AppOf = ({ supervisor }) => ({ ...parts, supervisor: audited(supervisor, records.audit) });
  const kinds = [
    ...agentKinds({
      registry,
      tokens,
      workFolder: layout.work,
      gatewayUrl: () => url,
      evidence,
      redact,
      ...(workers.local && { hosts: workers.local }),
      remote,
      sandbox: { ...sandbox, openLink, ...worktreeTurns(parts) },
      workflows: (context) => workflowPorts(appOf(context)),
      budget: ({ supervisor }) =>
        budgetPortOf(supervisor, {
          roster,
          enforce: () => live.current.budgets.enforce,
          timeZone: () => timeZoneOf(parts.settings),
        }),
      connectors: types,
      connectorInstances: () => connectors.instances(),
      links,
      inboxOf: inboxes(connectors, appOf, post),
      attachmentPath: attachmentPath(layout),
      keepText: (sessionId, text, context) => keepOutput(appOf(context), records, sessionId, text),
      watchChanges: watchChanges(parts),
      isTrusted: isTrustedIn(layout.home),
      ...(telemetry && { traceparent: telemetry.traceparent }),
      log,
      pool,
      words,
      ...turnRulesOf(live),
      ...limits,
      ...(config.agents.token === 'operator' ? { agentToken: secrets.token } : {}),
    }),
    ...homeKinds({ layout, records, sandbox, links, parts, post }, appOf),
    ...(options.kinds ?? []),
    ...modules.kinds,
  ];

  await noteBuild(store, kinds, version);
  const interrupted = await interruptedTurns(store); // before the supervisor settles them
  const supervisor = await createSupervisor({
    store,
    environment,
    kinds,
    facts: { roster: roster(), timeZone: timeZoneOf(parts.settings) },
    limits: { keepLogDays: config.log.keepDays, keepLogBytes: config.log.keepBytes },
    onLost: () => depart('lost'),
  });
  closing.add(() => workers.leave());
  closing.add(() => supervisor.stop({ drainMs: supervisorDrainMs }));
  // Another machine could not find its turns
  closing.add(async () => !isDeparted && (await hasStandby(config.store)) && workers.keepNoneHere());

  const app: App = appOf({ supervisor });
  await records.connect(supervisor);
  followAudit(app, closing, { folder: layout.audit, settings: config.audit });
  const engineChanges = followEngines(supervisor, registry);
  closing.add(() => engineChanges.close());

  const realignNotifiers = (): void =>
    void app.notifications?.poll(app).catch(failed(log, 'could not notify of what waits'));
  closing.add(records.devices.onRevoked(realignNotifiers)); // what a revoked browser was told of ends with it

  live.onChange((change) => {
    opened.setLevel(live.current.logging.level);
    supervisor.setFact('timeZone', timeZoneOf(app.settings));
    realignNotifiers();
    const { type, ...payload } = change;
    void announceFact(supervisor, type === 'taken' ? 'config:reloaded' : 'config:refused', payload);
  });

  const scheduled = followBackups(app, closing, {
    settings: () => live.current.backup,
    layout,
    stage: stageOf(store, layout),
  });
  const backUpTo = (to?: string) =>
    to === undefined
      ? scheduled.make()
      : backUp(layout, to, (at) => store.backUp(at), environment.clock.now());
  const announcement = await announcementHere(
    { host: localHost, port: listeners.localPort, url, publicUrl, instance: layout.instance },
    secrets,
  );
  // Before the first answer: anyone who sees that it is healthy finds it.
  await announce(layout.announcement, announcement);
  // Before the lock is released: the file of a successor is never overwritten.
  closing.add(() => announceStopped(layout.announcement, announcement));

  const gateway = await createGateway({
    instance: { app, tokens },
    operatorToken: secrets.token,
    hookSecret: secrets.secret,
    listeners,
    host,
    authRequired,
    tls,
    allowedHosts: () => live.current.gateway.allowedHosts,
    allowedOrigins: () => live.current.gateway.allowedOrigins,
    name: layout.instance,
    version,
    log,
    console: {
      ...remoteConfig({ path: layout.config, live }),
      log: (linesMax) => logTail(layout.log, linesMax),
    },
    routes: options.routes ?? [],
    backup: backUpTo,
    ownerKey: store.ownerKey,
    telemetry,
  });
  telemetry?.follow(supervisor, gateway.measure);
  served(gateway.post);
  closing.add(() => gateway.close(gatewayDrainMs));
  closing.add(async () => (await isAskedToEndTurns(layout.run)) && remote.keepNone());
  registry.refresh();
  await startFollowing(app, closing, interrupted);
  return {
    url,
    home: layout.home,
    engines: Object.values((await registry.list()).engines),
    defaultEngine: config.engines.default,
    app,
    tokens,
    departed: departed.then(async (why) => {
      if (why === 'drained') await supervisor.rest(); // agents take long to end, and clients are still answered
      return why;
    }),
    turnsLeft: () => workers.left,
    close: () => closing.close(),
  };
}
// Together less than the ten seconds that a stop may take.
const gatewayDrainMs = 2_000;
const supervisorDrainMs = 7_500;
