import type { Mount } from './mounts.js';

/**
 * The same for macOS: a profile of `sandbox-exec`, in which the last rule that fits counts. It cannot show an
 * empty folder in the place of another; what is private or hidden is denied there, and temporary files go to
 * the folder that TMPDIR names.
 */
export function seatbeltProfile(mounts: readonly Mount[], temporary: string | undefined): string {
  return [
    '(version 1)',
    '(allow default)',
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(allow signal (target same-sandbox))',
    '(deny mach-priv-task-port)',
    // what it starts through these would not be confined
    '(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd"))',
    '(deny appleevent-send)',
    `(deny process-exec ${starters.map((path) => `(literal ${quoted(path)})`).join(' ')})`,
    ...mounts.flatMap(rulesOf),
    ...(temporary === undefined ? [] : rulesOf({ access: 'write', path: temporary })),
    '(allow file-write* (subpath "/dev"))',
  ].join('\n');
}

function rulesOf({ access, path, isFile }: Mount): readonly string[] {
  const target = `(${isFile === true ? 'literal' : 'subpath'} ${quoted(path)})`;
  switch (access) {
    case 'write':
      return [`(allow file-read* file-write* ${target})`];
    case 'read':
      return [`(allow file-read* ${target})`, `(deny file-write* ${target})`];
    case 'private':
    case 'hidden':
      // the way to what lies within stays open
      return [
        `(deny file-read-data file-write* ${target})`,
        // a socket is reached by its path, and reading it says nothing of that
        ...(access === 'hidden' ? [`(deny network-outbound ${target})`] : []),
      ];
  }
}

/** What they start is not confined: launchd, the finder and the timetable start it for them. */
const starters = ['/bin/launchctl', '/usr/bin/open', '/usr/bin/osascript', '/usr/bin/crontab', '/usr/bin/at'];

const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`;

/** `sandbox-exec -p <profile> program …` */
export const seatbeltCommand = (
  profile: string,
  command: readonly string[],
): readonly [program: string, ...args: string[]] => ['/usr/bin/sandbox-exec', '-p', profile, ...command];
