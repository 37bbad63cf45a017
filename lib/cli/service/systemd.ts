import { join } from 'node:path';
import type { Service, ServiceManager } from './contract.js';

/** A unit of the user's own systemd. `folder` is where such units lie. */
export function systemd(folder: string): ServiceManager {
  const unit = ({ name }: Service): string => `${name}.service`;
  return {
    called: 'systemd',
    file: (service) => join(folder, unit(service)),
    link: (service) => join(folder, 'default.target.wants', unit(service)),
    definition,
    install: (service) => [
      ['systemctl', '--user', 'daemon-reload'],
      ['systemctl', '--user', 'enable', unit(service)],
      ['systemctl', '--user', 'restart', unit(service)], // it may run by an older definition
    ],
    uninstall: (service) => [['systemctl', '--user', 'disable', '--now', unit(service)]],
    status: (service) => ['systemctl', '--user', '--no-pager', 'status', unit(service)],
    logs: (service, follow) => [
      'journalctl',
      '--user',
      '--no-pager',
      '--unit',
      unit(service),
      '--lines',
      '100',
      ...(follow ? ['--follow'] : []),
    ],
    outOfReach: {
      words: /Failed to connect to (?:the )?(?:user )?(?:scope )?bus|could not be started \(ENOENT\)/i,
      remedy:
        'The systemd of your user cannot be reached from here, as in containers and after su or sudo. Log in as this ' +
        'user, on the machine or by ssh, and try again. Where there is no systemd, let another supervisor run: ' +
        'troupe start',
    },
    afterwards: 'To run it also while you are logged out: loginctl enable-linger',
  };
}

/**
 * `Type=notify`: it counts as started once it answers, and is restarted when its event loop has been held for
 * the watchdog's time. A clean end (`troupe stop`) stays an end; exit codes that a restart cannot cure are
 * listed. Only the gateway is stopped: agents go on beside it, and the next start takes them up. No line here may
 * keep an agent from its work in the user's folders: that is the sandbox's task.
 */
function definition({ layout, command, path }: Service): string {
  return `[Unit]
Description=Troupe, supervisor of agent work (${escaped(layout.home)})
Documentation=${documentation}
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=notify
NotifyAccess=all
ExecStart=${command.map(argument).join(' ')}
Environment=${argument(`PATH=${path}`)}
Environment=NODE_ENV=production
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2 4 5
WatchdogSec=60
TimeoutStartSec=15min
TimeoutStopSec=30
KillMode=process
OOMPolicy=continue
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
`;
}

const documentation = 'man:systemd.service(5)';

/** `%` begins a specifier in every value. */
const escaped = (text: string): string => text.replaceAll('%', '%%').replaceAll('\n', ' ');

/** One quoted word of a command or assignment; `$` would be a variable. */
const argument = (word: string): string =>
  /^[\w./:=@+,-]+$/.test(word)
    ? word
    : `"${escaped(word).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('$', '$$$$')}"`;
