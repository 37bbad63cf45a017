import type { Engine } from '../actors/engines/engine.js';
import { systemEnvironment, type Environment } from './environment.js';
import { addressesOf, openListeners, type Listeners } from './gateway/listeners.js';
import { isLoopback } from './gateway/origin.js';
import { openStandby } from './gateway/standby/standby.js';
import { readAnnouncement, secretsOf } from './home/announce.js';
import { makeFolder, makePrivate, sweepTemporary } from './home/atomic-file.js';
import { readCertificate } from './home/certificate.js';
import type { Config } from './home/config.js';
import { configuredEngines } from './home/engines.js';
import { HomeError } from './home/home-error.js';
import { keepOthersOut } from './home/keep-others-out.js';
import type { Layout } from './home/layout.js';
import { watchConfig, type LiveConfig } from './home/live-config.js';
import { openLog } from './home/log.js';
import { loadModules } from './home/modules.js';
import { openStore, type HomeStore } from './home/open-store.js';
import { readConfig } from './home/read-config.js';
import { embeddedStore } from './home/store-setting.js';
import type { Opened } from './opened.js';
import type { LevelStoreOptions } from './store/level.js';
import type { Unfit } from './telemetry/sdk.js';
import type { Telemetry } from './telemetry/telemetry.js';
import { version } from './version.js';

/**
 * A home before anything runs in it: its settings judged, its files for their user alone, its log and its store
 * open, its config.yaml followed. What cannot be used is refused before anything is made or opened.
 */
export interface OpenHome {
  /** As of the start. */
  readonly config: Config;
  /** Those of `config`, or what was given in their place. */
  readonly gateway: Config['gateway'];
  /** As of now. */
  readonly live: LiveConfig;
  readonly environment: Environment;
  /** Absent: none is wanted, or its packages are missing. @internal */
  readonly telemetry: Telemetry | undefined;
  readonly store: HomeStore;
  /** Requests that come before there is a gateway wait for it: agents of an earlier life may go on at once. */
  readonly listeners: Listeners;
  readonly secrets: ReturnType<typeof secretsOf>;
  readonly tls: Awaited<ReturnType<typeof readCertificate>>;
  readonly modules: Awaited<ReturnType<typeof loadModules>>;
  readonly setLevel: ReturnType<typeof openLog>['setLevel'];
  /** Resolves with what `depart` says first. */
  readonly departed: Promise<Departure>;
  readonly depart: (why: Departure) => void;
}

/** Why an instance must be closed: its home has another owner, or an operator wants another node to have it. */
export type Departure = 'lost' | 'drained';

/** What is opened is closed by `closing`, also where opening fails half-way. */
export async function openHome(
  layout: Layout,
  closing: Opened,
  options: {
    /** Over those of config.yaml. */
    readonly at: { readonly host: string | undefined; readonly port: number | undefined };
    readonly engines: readonly Engine[];
    readonly onProgress: LevelStoreOptions['onProgress'] | undefined;
    readonly onStandby: OnStandby | undefined;
    readonly acceptLoss: boolean | undefined;
  },
): Promise<OpenHome> {
  const config = await readConfig(layout.config);
  const { host = config.gateway.host, port = config.gateway.port } = options.at;
  await readAnnouncement(layout.announcement); // a damaged one is refused before anything is made or opened
  const closedToOthers = await keepOthersOut(layout);
  const tls = await readCertificate(config, layout);
  const modules = await loadModules(config.modules, layout);
  const engines = enginesOf(config, [...options.engines, ...modules.engines], layout, () => undefined);
  refuseUnusable(config, layout, { host, engines: engines.map(({ name }) => name) });
  await makeFolder(layout.home);

  const { telemetry, unfit } = await telemetryOf(config, layout, () => log);
  const { log, setLevel, close: closeLog } = openLog(config.logging, layout, telemetry);
  closing.add(closeLog);
  closing.add(() => telemetry?.close());
  if (unfit !== undefined) log.error(unfit, 'no telemetry is sent: its packages do not fit');
  if (closedToOthers.length > 0)
    log.warn({ paths: closedToOthers }, 'removed write permission for group and others');
  for (const file of modules.files) log.info({ ...file }, 'a module of config.yaml was loaded');

  const environment = {
    ...systemEnvironment({ log }),
    ...(telemetry && { causality: telemetry.causality }),
  };
  let left: ((why: Departure) => void) | undefined;
  const departed = new Promise<Departure>((resolve) => (left = resolve));
  const depart = (why: Departure): void => left?.(why);
  const gateway = { ...config.gateway, host, port };
  const { listeners, store } = await listenAndOpen(layout, closing, {
    ...options,
    store: config.store,
    gateway,
    tls,
    environment,
    onDrain: () => depart('drained'),
  });
  telemetry?.own();
  await sweepTemporary(layout.home);
  // What agents said is in there: for their user alone, even where the home itself was opened to others.
  const own = config.store === embeddedStore ? [layout.store, layout.storeCopy] : [];
  for (const folder of [layout.engines, ...own, layout.logs]) await makePrivate(folder);

  const live = watchConfig({ path: layout.config, initial: config, log });
  closing.add(() => live.close());
  const secrets = secretsOf(await readAnnouncement(layout.announcement), () => environment.random.secret(32));
  return {
    config,
    gateway,
    listeners,
    live,
    environment,
    telemetry,
    store,
    secrets,
    tls,
    modules,
    setLevel,
    departed,
    depart,
  };
}

/**
 * A node of a shared home listens before it owns it: the owner's address is in the database, and a standby forwards.
 * Otherwise who holds the home already is the better answer than that its port is taken.
 */
async function listenAndOpen(
  layout: Layout,
  closing: Opened,
  options: {
    readonly store: string;
    readonly gateway: { readonly host: string; readonly port: number };
    readonly tls: OpenHome['tls'];
    readonly environment: Environment;
    readonly onProgress: LevelStoreOptions['onProgress'] | undefined;
    readonly onStandby: OnStandby | undefined;
    readonly onDrain: () => void;
    readonly acceptLoss: boolean | undefined;
  },
): Promise<Pick<OpenHome, 'store' | 'listeners'>> {
  const { store: setting, gateway, tls, environment, onProgress, onStandby, onDrain, acceptLoss } = options;
  const { host } = gateway;
  const listen = async (): Promise<Listeners> => {
    const listeners = await openListeners({ ...gateway, tls });
    closing.add(() => listeners.close());
    return listeners;
  };
  if (setting === embeddedStore) {
    const store = await openStore(layout, { store: setting, environment, onProgress });
    closing.add(() => store.close());
    return { store, listeners: await listen() };
  }
  const listeners = await listen();
  const { url, publicUrl = url } = addressesOf(listeners, host, tls !== undefined);
  const standby = openStandby({ listeners, host, log: environment.log });
  closing.add(() => standby.close());
  const store = await openStore(layout, {
    store: setting,
    environment,
    address: publicUrl,
    onStandby: onStandby && ((owner) => onStandby(owner, publicUrl)),
    onWait: (home) => standby.seen(home),
    onDrain,
    acceptLoss,
  });
  closing.add(() => store.close());
  standby.end();
  return { store, listeners };
}

/** Told who owns the home, and where this node forwards requests to it until it owns the home itself. */
type OnStandby = (owner: string, url: string) => AbortSignal;

/** Nothing of it is loaded where it is off. What watches the gateway must not keep it from starting. */
async function telemetryOf(
  { telemetry: { to, ...settings } }: Config,
  { instance }: Layout,
  log: () => Environment['log'],
): Promise<{ readonly telemetry?: Telemetry; readonly unfit?: Unfit }> {
  if (to === null) return {};
  const { unfitTelemetry, reinstallTelemetry } = await import('./telemetry/sdk.js');
  try {
    const unfit = unfitTelemetry();
    if (unfit !== undefined) return { unfit };
    const { openTelemetry } = await import('./telemetry/telemetry.js');
    return { telemetry: await openTelemetry({ to, ...settings }, { version, instance, log }) };
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    return { unfit: { what, install: reinstallTelemetry() } };
  }
}

/** Those of a host and of modules, and those that config.yaml names; one of a host's takes the place of its namesake. */
export const enginesOf = (
  config: Config,
  own: readonly Engine[],
  layout: Layout,
  gatewayUrl: () => string | undefined,
): readonly Engine[] => [
  ...own,
  ...configuredEngines(config, gatewayUrl, layout.engines).filter(
    ({ name }) => !own.some((engine) => engine.name === name),
  ),
];

/** Refuses settings of which each alone is fine: what a value alone does not tell. */
function refuseUnusable(
  config: Config,
  layout: Layout,
  { host, engines }: { readonly host: string; readonly engines: readonly string[] },
): void {
  if (!engines.includes(config.engines.default))
    throw new HomeError(
      'BAD_CONFIG',
      `${layout.config}, engines.default: unknown engine "${config.engines.default}".`,
      'Use a configured engine, or "clerk".',
    );
  if (!config.gateway.authRequired && !isLoopback(host))
    throw new HomeError(
      'BAD_CONFIG',
      `${layout.config}, gateway.authRequired: false is not allowed when the gateway listens on the network.`,
      'Remove it, or bind to 127.0.0.1.',
    );
  if (config.gateway.tls === null && !config.gateway.plainHttp && !isLoopback(host))
    throw new HomeError(
      'BAD_CONFIG',
      `${layout.config}: without TLS the token can be read on the network at ${host}.`,
      'Set gateway.tls, or gateway.plainHttp: true behind a proxy that speaks TLS, or bind to 127.0.0.1.',
    );
}
