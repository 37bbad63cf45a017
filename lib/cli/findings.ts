import { access, constants, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { readAnnouncement } from '../home/announce.js';
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
import { readDeviceFile } from '../records/devices/device-file.js';
import { readRoster } from '../records/roster/read-roster.js';
import { backups } from './backup-finding.js';
import { connect, running } from './client.js';
import { engineQuestions } from './engine-findings.js';
import type { Finding } from './finding.js';
import { notifications } from './notification-finding.js';
import { bytes, duration } from './print.js';
import { loss, retentionOf, worthShowingMs } from './retention.js';
import { sandbox } from './sandbox-finding.js';
import { closedStore, sharedStore } from './store-finding.js';
import { workingFolders } from './work-finding.js';

/**
 * What `doctor` looks at, one question after the other. Nothing here writes, and no answer stops the next
 * question.
 */
export async function examine(layout: Layout): Promise<readonly Finding[]> {
  const settings = await readConfig(layout.config).catch((error: Error) => error);
  const config = settings instanceof Error ? defaultConfig() : settings;
  const questions = [
    () => nodeVersion(),
    () => homeFolder(layout),
    () => announcement(layout),
    () => browsers(layout),
    () => settingsFile(layout, settings),
    () => ownModules(layout, config),
    () => people(layout),
    () => sandbox(layout, config),
    () => disk(layout),
    () => workingFolders(layout),
    () => backups(layout, config),
    () => telemetry(config),
    () => auditElsewhere(layout, config),
    () => gateway(layout, config),
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
    if (found !== undefined) findings.push(found);
  }
  return findings;
}

async function nodeVersion(): Promise<Finding> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const what = `Node ${process.versions.node}`;
  return major > 20 || (major === 20 && minor >= 19)
    ? { grade: 'good', about: 'node', what }
    : { grade: 'bad', about: 'node', what, remedy: 'Install Node 20.19 or newer.' };
}

async function homeFolder({ home }: Layout): Promise<Finding> {
  const facts = await stat(home).catch(() => undefined);
  if (facts === undefined) {
    const above = await nearestFolder(home);
    const writable = await access(above, constants.W_OK).then(
      () => true,
      () => false,
    );
    return writable
      ? { grade: 'good', about: 'home', what: 'does not exist yet; the first start creates it' }
      : {
          grade: 'bad',
          about: 'home',
          what: `cannot be created: ${above} is not writable for you`,
          remedy: 'Choose another with --home, or fix the permissions of that folder.',
        };
  }
  if (!facts.isDirectory())
    return { grade: 'bad', about: 'home', what: 'is not a folder', remedy: 'Choose another with --home.' };
  const mine = process.getuid === undefined || facts.uid === process.getuid();
  if (!mine)
    return {
      grade: 'bad',
      about: 'home',
      what: `belongs to another user (uid ${facts.uid})`,
      remedy: `chown -R "$(id -u)" ${home}`,
    };
  if (
    !(await access(home, constants.R_OK | constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    ))
  )
    return {
      grade: 'bad',
      about: 'home',
      what: 'is not readable and writable for you',
      remedy: `chmod u+rwx ${home}`,
    };
  if ((facts.mode & 0o077) !== 0)
    return {
      grade: 'poor',
      about: 'home',
      what: 'can be entered by other users of this machine',
      remedy: `chmod 700 ${home}`,
    };
  return { grade: 'good', about: 'home', what: 'yours and private' };
}

async function announcement({ announcement: path }: Layout): Promise<Finding> {
  const known = await readAnnouncement(path).catch((error: Error) => error);
  if (known instanceof Error) return { grade: 'bad', about: 'secrets', what: known.message };
  if (known === undefined)
    return { grade: 'good', about: 'secrets', what: 'none yet; the first start creates them' };
  const { mode } = await stat(path);
  return (mode & 0o077) === 0
    ? { grade: 'good', about: 'secrets', what: 'gateway.json is valid and private' }
    : {
        grade: 'bad',
        about: 'secrets',
        what: 'gateway.json contains the token and is readable by other users',
        remedy: `chmod 600 ${path}, and if others use this machine, delete it: the next start creates a new token`,
      };
}

async function browsers({ authDevices }: Layout): Promise<Finding> {
  const read = await readDeviceFile(authDevices).catch((error: Error) => error);
  if (read instanceof Error)
    return {
      grade: 'bad',
      about: 'browsers',
      what: read.message,
      remedy: 'Paired browsers have no access until it is repaired; or delete it and pair again.',
    };
  const { length } = read.devices;
  return { grade: 'good', about: 'browsers', what: length === 0 ? 'none paired' : `${length} paired` };
}

async function settingsFile({ config }: Layout, settings: Config | Error): Promise<Finding> {
  if (settings instanceof Error) return { grade: 'bad', about: 'settings', what: settings.message };
  const exists = await stat(config).then(
    () => true,
    () => false,
  );
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

/** What agents are confined by, tried on this machine. */
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

async function disk({ home }: Layout): Promise<Finding> {
  const { bavail, bsize } = await statfs(await nearestFolder(home));
  const free = bavail * bsize;
  const what = `${bytes(free)} free`;
  if (free < freeBytesMin)
    return {
      grade: 'bad',
      about: 'disk',
      what,
      remedy: `New work is refused below ${bytes(freeBytesMin)}: free some space.`,
    };
  return free < 5 * freeBytesMin
    ? { grade: 'poor', about: 'disk', what, remedy: `New work is refused below ${bytes(freeBytesMin)}.` }
    : { grade: 'good', about: 'disk', what };
}

/**
 * A gateway that runs tells of its store itself; of one that does not, port and store are looked at.
 */
async function gateway(layout: Layout, config: Config): Promise<Finding> {
  if ((await running(layout)) !== undefined) {
    const client = await connect(layout);
    const { url } = client.announcement;
    if (await client.healthy())
      return { grade: 'good', about: 'gateway', what: `runs at ${url}, answers, and its store is intact` };
    return {
      grade: 'bad',
      about: 'gateway',
      what: `runs at ${url} but is unhealthy`,
      remedy: `See its log: ${layout.log}.`,
    };
  }
  const { host, port } = config.gateway;
  const busy = await listening(host, port);
  if (busy !== undefined)
    return {
      grade: 'bad',
      about: 'port',
      what: `${host}:${port} cannot be listened on (${busy})`,
      remedy: 'Set gateway.port in config.yaml, or start with --port 0.',
    };
  return config.store === embeddedStore ? closedStore(layout, port) : sharedStore(config.store);
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

/** Whether what it needs is installed. */
async function telemetry({ telemetry: { to } }: Config): Promise<Finding | undefined> {
  if (to === null) return undefined;
  const { missingTelemetry } = await import('../telemetry/sdk.js');
  const install = missingTelemetry();
  return install === undefined
    ? { grade: 'good', about: 'telemetry', what: `goes to ${to}` }
    : { grade: 'bad', about: 'telemetry', what: 'is not sent: packages are missing', remedy: install };
}

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

async function nearestFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (
      (await stat(folder).then(
        (facts) => facts.isDirectory(),
        () => false,
      )) ||
      folder === dirname(folder)
    )
      return folder;
  }
}

const freeBytesMin = 200_000_000;
