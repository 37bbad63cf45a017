import { join } from 'node:path';
import type { Service, ServiceManager } from './contract.js';

/** An agent of the user's own launchd (macOS). `folder` is where such agents lie. */
export function launchd(folder: string): ServiceManager {
  const target = `gui/${process.getuid?.() ?? 0}`;
  const file = ({ name }: Service): string => join(folder, `${name}.plist`);
  return {
    called: 'launchd',
    file,
    definition,
    install: (service) => [
      ['launchctl', 'bootstrap', target, file(service)],
      ['launchctl', 'kickstart', '-k', `${target}/${service.name}`],
    ],
    uninstall: ({ name }) => [['launchctl', 'bootout', `${target}/${name}`]],
    status: ({ name }) => ['launchctl', 'print', `${target}/${name}`],
    logs: ({ layout }, follow) => ['tail', '-n', '100', ...(follow ? ['-F'] : []), layout.log],
    afterwards: undefined,
  };
}

/**
 * A clean end (`troupe stop`) stays an end; a failed one is started again after two seconds. Agents go on beside it,
 * and the next start takes them up.
 */
function definition({ name, layout, command, path }: Service): string {
  const strings = command.map((word) => `    <string>${escaped(word)}</string>`).join('\n');
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${escaped(name)}</string>
  <key>ProgramArguments</key>
  <array>
${strings}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>${escaped(path)}</string>
    <key>NODE_ENV</key>
    <string>production</string>
  </dict>
  <key>WorkingDirectory</key>
  <string>${escaped(layout.home)}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>2</integer>
  <key>ExitTimeOut</key>
  <integer>30</integer>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>ProcessType</key>
  <string>Interactive</string>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
