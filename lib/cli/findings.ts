import { createServer } from 'node:net';
import { isThere } from '../home/atomic-file.js';
import { defaultConfig, type Config } from '../home/config.js';
import type { Layout } from '../home/layout.js';
import { readConfig } from '../home/read-config.js';
import { HomeError } from '../home/home-error.js';
import { moduleFiles } from '../home/modules.js';
import { embeddedStore } from '../home/store-setting.js';
import { readHead } from '../records/audit/audit-files.js';
import { beginning } from '../records/audit/chain.js';
import { shippedRecord } from '../records/audit/ship-audit.js';
import { auditTargets } from '../records/audit/targets.js';
import { readRoster } from '../records/roster/read-roster.js';
import { backups } from './backup-finding.js';
import { connect, running, troubles } from './client.js';
import { engineQuestions } from './engine-findings.js';
import { hint, type Terminal } from './command-line.js';
import type { Finding } from './finding.js';
import { announcement, browsers, homeFolder, writableByOthers } from './home-findings.js';
import { leftFiles, leftProcesses } from './leftover-findings.js';
import { clock, disk, gitVersion, nodeVersion } from './machine-findings.js';
import { notifications } from './notification-finding.js';
import { duration } from './print.js';
import { loss, retentionOf, worthShowingMs } from './retention.js';
import { sandbox } from './sandbox-finding.js';
import { service } from './service-finding.js';
import { closedStore, sharedStore } from './store-finding.js';
import { telemetry } from './telemetry-finding.js';
import { workingFolders } from './work-finding.js';
import { workerBuilds } from './worker-finding.js';
import { version } from '../version.js';

/**
 * What `doctor` looks at, one question after the other. Nothing here writes, and no answer stops the next
 * question.
 */
export async function examine(layout: Layout, env: Terminal['env']): Promise<readonly Finding[]> {
  const settings = await readConfig(layout.config).catch((error: Error) => error);
  const config = settings instanceof Error ? defaultConfig() : settings;
  const questions = [
    () => nodeVersion(),
    () => gitVersion(),
    () => clock(layout),
    () => disk(layout),
    // In this order --fix finds each: in a home that is closed nothing counts as open
    () => announcement(layout),
    () => browsers(layout),
    () => writableByOthers(layout),
    () => homeFolder(layout),
    () => settingsFile(layout, settings),
    () => ownModules(layout, config),
    () => people(layout),
    () => sandbox(layout, config),
    () => workingFolders(layout),
    () => backups(layout, config),
    () => telemetry(config),
    () => auditElsewhere(layout, config),
    () => gateway(layout, config),
    () => leftProcesses(layout),
    () => leftFiles(layout),
    () => workerBuilds(layout),
    () => service(layout, env),
    () => retention(layout),
    ...engineQuestions(config, layout),
    () => notifications(layout, config),
  ];
  const findings: Finding[] = [];
  for (const question of questions) {
    const found = await question().catch((error: Error): Finding => ({
      grade: 'bad',
      about: 'doctor',
      what: error.message,
    }));
    if (found !== undefined) findings.push(...[found].flat());
  }
  return findings;
}

async function settingsFile({ config }: Layout, settings: Config | Error): Promise<Finding> {
  if (settings instanceof Error) return { grade: 'bad', about: 'settings', what: settings.message };
  const exists = await isThere(config);
  return {
    grade: 'good',
    about: 'settings',
    what: exists ? 'config.yaml is valid' : 'no config.yaml; the defaults apply',
  };
}

async function people({ org }: Layout): Promise<Finding> {
  const { people: employees, departments, setAside } = await readRoster(org);
  const what =
    employees.length === 0
      ? 'no employees'
      : `${employees.length} employees in ${departments.length} departments`;
  if (setAside.length === 0) return { grade: 'good', about: 'people', what };
  const unusable = setAside
    .slice(0, 10)
    .map(({ file, reason }) => `org/${file}: ${reason}`)
    .join('; ');
  return {
    grade: 'poor',
    about: 'people',
    what: `${what}; unusable files: ${unusable}`,
    remedy: 'GET /api/org lists them under setAside.',
  };
}

/** What the start would load, without loading it. */
async function ownModules(layout: Layout, { modules }: Config): Promise<Finding | undefined> {
  if (modules.length === 0) return undefined;
  const about = 'modules';
  try {
    const files = await moduleFiles(modules, layout);
    const what = files.map(({ path, sha256 }) => `${path} (sha256 ${sha256})`).join(', ');
    return { grade: 'good', about, what };
  } catch (error) {
    if (!(error instanceof HomeError)) throw error;
    return { grade: 'bad', about, what: error.message, remedy: error.remedy };
  }
}

/**
 * A gateway that runs tells of its store itself; of one that does not, port and store are looked at.
 */
async function gateway(layout: Layout, config: Config): Promise<Finding | readonly Finding[]> {
  if ((await running(layout)) !== undefined) {
    const client = await connect(layout);
    const { url } = client.announcement;
    if (await client.healthy()) {
      const { version: runs } = (await client.get('/api/status')) as { readonly version?: string };
      const reasons = await troubles(client);
      if (reasons.length > 0)
        return {
          grade: 'bad',
          about: 'gateway',
          what: `runs at ${url} and is degraded: ${reasons.join('; ')}`,
          remedy: `See its log: ${layout.log}.`,
        };
      const what = `runs at ${url}, answers, and its store is intact`;
      return runs === undefined || runs === version
        ? { grade: 'good', about: 'gateway', what }
        : {
            grade: 'poor',
            about: 'gateway',
            what: `${what}, but it is version ${runs}, and ${version} is installed`,
            remedy: `Restart it; turns go on meanwhile: ${hint(layout, 'stop')}, then ${hint(layout, 'start')}`,
          };
    }
    return {
      grade: 'bad',
      about: 'gateway',
      what: `runs at ${url} but is unhealthy`,
      remedy: `See its log: ${layout.log}.`,
    };
  }
  return [
    await portOf(config),
    await (config.store === embeddedStore ? closedStore(layout) : sharedStore(config.store)),
  ];
}

async function portOf({ gateway: { host, port } }: Config): Promise<Finding> {
  const busy = await listening(host, port);
  return busy === undefined
    ? { grade: 'good', about: 'port', what: `${host}:${port} is free` }
    : {
        grade: 'bad',
        about: 'port',
        what: `${host}:${port} cannot be listened on (${busy})`,
        remedy: 'Set gateway.port in config.yaml, or start with --port 0.',
      };
}

/** How many lines those to whom the audit log is passed on have not. */
async function auditElsewhere({ audit: folder }: Layout, { audit }: Config): Promise<Finding | undefined> {
  const targets = auditTargets(audit);
  if (targets.length === 0) return undefined;
  const { last } = (await readHead(folder)) ?? { last: beginning };
  const shipped = await shippedRecord(folder).read();
  const behind = targets.flatMap(({ name }) => {
    const missing = Math.max(0, last.n - (shipped[name]?.n ?? 0));
    return missing > linesBehindMax ? [`${name} lacks ${missing} lines`] : [];
  });
  return behind.length === 0
    ? { grade: 'good', about: 'audit', what: `passed on to ${targets.map(({ name }) => name).join(', ')}` }
    : {
        grade: 'bad',
        about: 'audit',
        what: behind.join('; '),
        remedy: 'See logs/gateway.log for what fails; lines are passed on while the gateway runs.',
      };
}

/** Some lines are always on their way. */
const linesBehindMax = 1_000;

/** Only a gateway that runs can tell. */
async function retention(layout: Layout): Promise<Finding | undefined> {
  if ((await running(layout)) === undefined) return undefined;
  const status = await retentionOf(await connect(layout));
  if (status === undefined) return undefined;
  if (status.heldMs < worthShowingMs)
    return { grade: 'good', about: 'retention', what: 'the clocks agree; no retention is held back' };
  return {
    grade: 'poor',
    about: 'retention',
    what: `the clock claims ${duration(status.heldMs)} that cannot be verified; held back: ${loss(status)}`,
    remedy:
      'troupe retention allow, if so much time has passed; troupe retention dismiss, if the clock was set.',
  };
}

/** Why an address cannot be listened on; undefined when it can. */
function listening(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
}
