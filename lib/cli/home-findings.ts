import { access, chmod, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readAnnouncement } from '../home/announce.js';
import { followed } from '../home/atomic-file.js';
import type { HomeError } from '../home/home-error.js';
import { keepOthersOut, openToOthers } from '../home/keep-others-out.js';
import type { Layout } from '../home/layout.js';
import { readDeviceFile } from '../records/devices/device-file.js';
import type { Finding, Fix } from './finding.js';

/** Whose the home is, and who else may read or write in it. */

export async function homeFolder({ home }: Layout): Promise<Finding> {
  const about = 'home';
  const at = await followed(home).catch((fault: HomeError) => fault);
  if (at instanceof Error) return { grade: 'bad', about, what: at.message };
  const facts = await stat(home).catch(() => undefined);
  if (facts === undefined) {
    const above = await nearestFolder(home);
    return (await allows(above, constants.W_OK))
      ? { grade: 'good', about, what: 'does not exist yet; the first start creates it' }
      : {
          grade: 'bad',
          about,
          what: `cannot be created: ${above} is not writable for you`,
          remedy: 'Choose another with --home, or fix the permissions of that folder.',
        };
  }
  if (!facts.isDirectory())
    return { grade: 'bad', about, what: 'is not a folder', remedy: 'Choose another with --home.' };
  if (process.getuid !== undefined && facts.uid !== process.getuid())
    return {
      grade: 'bad',
      about,
      what: `belongs to another user (uid ${facts.uid})`,
      remedy: `chown -R "$(id -u)" ${home}`,
    };
  const fault = await access(home, constants.W_OK).catch(({ code }: NodeJS.ErrnoException) => code);
  if (fault === 'EROFS')
    return {
      grade: 'bad',
      about,
      what: 'lies on a disk that can only be read',
      remedy: 'Mount it for writing. Linux makes a disk so after an error: see "dmesg".',
    };
  if (!(await allows(home, constants.R_OK | constants.W_OK | constants.X_OK)))
    return {
      grade: 'bad',
      about,
      what: 'is not readable and writable for you',
      remedy: `chmod u+rwx ${home}`,
    };
  if ((facts.mode & othersMask) !== 0)
    return {
      grade: 'poor',
      about,
      what: 'can be entered by other users of this machine',
      remedy: `chmod 700 ${home}`,
      fix: closing(home, 0o700),
    };
  return { grade: 'good', about, what: 'yours and private' };
}

/** What says which programs run, and could be changed by other users of this machine. */
export async function writableByOthers(layout: Layout): Promise<Finding | undefined> {
  const about = 'rights';
  const open = await openToOthers(layout).catch((error: Error) => error);
  if (open instanceof Error) return { grade: 'bad', about, what: error(open), remedy: remedyOf(open) };
  if (open.length === 0) return undefined;
  const paths = open.slice(0, 5).map(({ path }) => path);
  const more = open.length > paths.length ? ` and ${open.length - paths.length} more` : '';
  return {
    grade: 'poor',
    about,
    what: `other users of this machine can write to ${paths.join(', ')}${more}`,
    remedy: 'The next start takes that right from them.',
    fix: { does: `chmod go-w ${paths.join(' ')}${more}`, apply: () => keepOthersOut(layout) },
  };
}

const error = ({ message }: Error): string => message;
const remedyOf = (fault: Error): string =>
  'remedy' in fault && typeof fault.remedy === 'string'
    ? fault.remedy
    : 'Check who owns what is in the home.';

export async function announcement({ announcement: path }: Layout): Promise<Finding> {
  const known = await readAnnouncement(path).catch((fault: Error) => fault);
  if (known instanceof Error) return { grade: 'bad', about: 'secrets', what: known.message };
  if (known === undefined)
    return { grade: 'good', about: 'secrets', what: 'none yet; the first start creates them' };
  return (
    (await readableByOthers(path, 'secrets', 'gateway.json contains the token and', {
      remedy: `chmod 600 ${path}, and if others use this machine, delete it: the next start creates a new token`,
    })) ?? { grade: 'good', about: 'secrets', what: 'gateway.json is valid and private' }
  );
}

export async function browsers({ authDevices, pushKey }: Layout): Promise<Finding> {
  const read = await readDeviceFile(authDevices).catch((fault: Error) => fault);
  if (read instanceof Error)
    return {
      grade: 'bad',
      about: 'browsers',
      what: read.message,
      remedy: 'Paired browsers have no access until it is repaired; or delete it and pair again.',
    };
  const { length } = read.devices;
  return (
    (await readableByOthers(authDevices, 'browsers', 'auth-devices.json', {
      remedy: `chmod 600 ${authDevices}`,
    })) ??
    // with it others can show notifications in these browsers that seem to come from here
    (await readableByOthers(pushKey, 'browsers', 'push-key.json signs notifications and', {
      remedy: `chmod 600 ${pushKey}`,
    })) ?? { grade: 'good', about: 'browsers', what: length === 0 ? 'none paired' : `${length} paired` }
  );
}

async function readableByOthers(
  path: string,
  about: string,
  subject: string,
  { remedy }: { readonly remedy: string },
): Promise<Finding | undefined> {
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined || (facts.mode & othersMask) === 0) return undefined;
  const what = `${subject} is readable by other users`;
  return { grade: 'bad', about, what, remedy, fix: closing(path, 0o600) };
}

const closing = (path: string, mode: number): Fix => ({
  does: `chmod ${mode.toString(8)} ${path}`,
  apply: () => chmod(path, mode),
});

const othersMask = 0o077;

const allows = (path: string, rights: number): Promise<boolean> =>
  access(path, rights).then(
    () => true,
    () => false,
  );

/** The folder itself, or the nearest above it that there is. */
export async function nearestFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const isThere = await stat(folder).then(
      (facts) => facts.isDirectory(),
      () => false,
    );
    if (isThere || folder === dirname(folder)) return folder;
  }
}
