import type { Command } from 'commander';
import { access } from 'node:fs/promises';
import { readCertificate } from '../home/certificate.js';
import { configKeys } from '../home/config-keys.js';
import type { Config } from '../home/config.js';
import { configuredEngines } from '../home/engines.js';
import type { Layout } from '../home/layout.js';
import { isLive } from '../home/live-config.js';
import { readConfig } from '../home/read-config.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';

/** `troupe config check` and `troupe config keys`: is config.yaml sound, and what may stand in it. */
export function configCommand(program: Command, terminal: Terminal): void {
  const config = program
    .command('config')
    .description('validate config.yaml, or list its settings')
    .exitOverride();
  withHome(
    config
      .command('check')
      .description('validate config.yaml; shows line and key of every error; changes nothing')
      .exitOverride(),
  ).action(async (options: HomeOptions) => {
    const layout = homeOf(options, terminal);
    const settings = await readConfig(layout.config); // its faults are explained by the one error exit
    const { faults, remarks } = await examine(settings, layout);
    for (const remark of remarks) terminal.say(remark);
    if (faults.length > 0) throw new CommandError(exitCodes.badHome, faults.join('\n'));
    terminal.out(
      await access(layout.config).then(
        () => `${layout.config} is valid.`,
        () => `${layout.config} does not exist; the defaults apply.`,
      ),
    );
  });
  withHome(
    config
      .command('keys')
      .description('every key with its default, and whether a change needs a restart')
      .exitOverride(),
  )
    .option('--json', 'answer as JSON')
    .action((options: { readonly json?: boolean }) => {
      const keys = configKeys().map((one) => ({ ...one, needsRestart: !isLive(one.key) }));
      if (options.json === true) terminal.out(JSON.stringify(keys));
      else
        for (const { key, standard, about, needsRestart } of keys)
          terminal.out(
            `${key}: ${standard === undefined ? '(none)' : JSON.stringify(standard)}\n    ${about}` +
              `${needsRestart && !key.startsWith('connectors.') ? ' Needs a restart.' : ''}`,
          );
    });
}

/** What no schema can see: files, programs, and settings that do not go together. */
async function examine(
  settings: Config,
  layout: Layout,
): Promise<{ readonly faults: readonly string[]; readonly remarks: readonly string[] }> {
  const faults: string[] = [];
  const remarks: string[] = [];
  const { gateway, engines, sessions } = settings;
  const names = configuredEngines(settings, () => undefined, layout.engines).map(({ name }) => name);
  if (!names.includes(engines.default))
    faults.push(
      `${layout.config}, engines.default: unknown engine "${engines.default}". Available: ${names.join(', ')}.`,
    );
  await readCertificate(settings, layout).catch((error: Error) => faults.push(error.message));
  for (const [at, root] of sessions.roots.entries()) {
    if (
      !(await access(root).then(
        () => true,
        () => false,
      ))
    )
      remarks.push(`note: sessions.roots.${at}: ${root} does not exist yet.`);
  }
  const exposed = !/^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(gateway.host);
  if (exposed && gateway.tls === null && !gateway.plainHttp)
    faults.push(
      `${layout.config}: without TLS the token can be read on the network at ${gateway.host}. Set ` +
        'gateway.tls or gateway.plainHttp.',
    );
  if (exposed && !gateway.authRequired)
    faults.push(`${layout.config}, gateway.authRequired: false requires a loopback address in gateway.host.`);
  if (exposed && gateway.tls === null)
    remarks.push(
      'note: gateway.host is open to the network without gateway.tls: cookies and tokens are sent unencrypted.',
    );
  if (exposed && gateway.allowedHosts.length === 0 && /^(?:0\.0\.0\.0|::)$/.test(gateway.host))
    remarks.push(
      'note: add the host names that clients use to gateway.allowedHosts; requests under other names are refused.',
    );
  return { faults, remarks };
}
