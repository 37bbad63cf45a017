import type { Command } from 'commander';
import { access, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readCertificate } from '../home/certificate.js';
import { configKeys, type ConfigKey } from '../home/config-keys.js';
import { connectorFaults } from '../home/connector-faults.js';
import { defaultConfig, type Config } from '../home/config.js';
import { configuredEngines } from '../home/engines.js';
import type { Layout } from '../home/layout.js';
import { faultLine, inspectConfig, type ConfigFault } from '../home/read-config.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';

/**
 * `troupe config check` and `troupe config keys`: is config.yaml sound, and what may stand in it. No gateway is
 * needed for either.
 */
export function configCommand(program: Command, terminal: Terminal): void {
  const config = program
    .command('config')
    .description('validate config.yaml, or list its settings')
    .exitOverride();
  withHome(
    config
      .command('check [file]')
      .description(
        'validate config.yaml, or another file; shows line and key of every error; changes nothing',
      )
      .exitOverride(),
  )
    .option('--json', 'answer as JSON')
    .action(async (file: string | undefined, options: HomeOptions & { readonly json?: boolean }) => {
      const layout = homeOf(options, terminal);
      const path = file === undefined ? layout.config : resolve(file);
      const { faults, remarks, exists } = await check(path, layout);
      if (!exists && file !== undefined)
        throw new CommandError(exitCodes.badHome, `${path} does not exist. Name a file, or leave it out.`);
      if (options.json === true) {
        terminal.out(JSON.stringify({ file: path, faults, notes: remarks }));
        if (faults.length > 0) process.exitCode = exitCodes.badHome;
        return;
      }
      for (const remark of remarks) terminal.say(`note: ${remark}`);
      if (faults.length > 0)
        throw new CommandError(exitCodes.badHome, faults.map((fault) => faultLine(fault, path)).join('\n'));
      terminal.out(exists ? `${path} is valid.` : `${path} does not exist; the defaults apply.`);
    });
  withHome(
    config
      .command('keys [prefix]')
      .description(
        'every key with type and default, and when a change of it holds: config keys engines.claude',
      )
      .exitOverride(),
  )
    .option('--json', 'answer as JSON')
    .action((prefix: string | undefined, options: { readonly json?: boolean }) => {
      const keys = configKeys().filter(({ key }) => prefix === undefined || isBelow(key, prefix));
      if (keys.length === 0)
        throw new CommandError(
          exitCodes.usage,
          `No key begins with "${prefix}". "troupe config keys" lists all.`,
        );
      if (options.json === true) terminal.out(JSON.stringify(keys));
      else terminal.out(keys.map(keyText).join('\n'));
    });
}

const isBelow = (key: string, prefix: string): boolean =>
  key === prefix || (key.startsWith(prefix) && /^[.[]/.test(key.slice(prefix.length)));

/** Two lines: what it is and is set to, and what it does. */
function keyText({ key, type, standard, isRequired, about, holds }: ConfigKey): string {
  const usual = isRequired
    ? 'has to be given'
    : standard === undefined || standard === null
      ? 'not set'
      : JSON.stringify(standard);
  return `${key}: ${usual}  (${type}; holds ${holds})\n    ${about}`;
}

/** All faults at once: those of the text, and those that no schema can see. */
async function check(
  path: string,
  layout: Layout,
): Promise<{
  readonly faults: readonly ConfigFault[];
  readonly remarks: readonly string[];
  readonly exists: boolean;
}> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const { faults, settings = defaultConfig(), given, lineAt } = inspectConfig(text ?? '');
  const at = (key: string, what: string): ConfigFault => ({
    key,
    what,
    line: lineAt?.(key.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))) ?? null,
  });
  const seen = await examine(settings, layout, at);
  const own = connectorFaults(given).map(({ key, what }) => at(key, what));
  const all = [...faults, ...own, ...seen.faults];
  return {
    faults: all.sort((one, other) => (one.line ?? 0) - (other.line ?? 0)),
    remarks: seen.remarks,
    exists: text !== undefined,
  };
}

/** What no schema can see: files, programs, and settings that do not go together. */
async function examine(
  settings: Config,
  layout: Layout,
  fault: (key: string, what: string) => ConfigFault,
): Promise<{ readonly faults: readonly ConfigFault[]; readonly remarks: readonly string[] }> {
  const faults: ConfigFault[] = [];
  const remarks: string[] = [];
  const { gateway, engines, sessions } = settings;
  const names = configuredEngines(settings, () => undefined, layout.engines).map(({ name }) => name);
  if (!names.includes(engines.default))
    faults.push(
      fault('engines.default', `unknown engine "${engines.default}". Available: ${names.join(', ')}.`),
    );
  await readCertificate(settings, layout).catch((error: Error) =>
    faults.push(fault('gateway.tls', error.message)),
  );
  for (const [at, root] of sessions.roots.entries()) {
    if (
      !(await access(root).then(
        () => true,
        () => false,
      ))
    )
      remarks.push(`sessions.roots.${at}: ${root} does not exist yet.`);
  }
  const exposed = !/^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(gateway.host);
  if (exposed && gateway.tls === null && !gateway.plainHttp)
    faults.push(
      fault(
        'gateway.host',
        `without TLS the token can be read on the network at ${gateway.host}. Set gateway.tls or ` +
          'gateway.plainHttp.',
      ),
    );
  if (exposed && !gateway.authRequired)
    faults.push(fault('gateway.authRequired', 'false requires a loopback address in gateway.host.'));
  if (exposed && gateway.tls === null)
    remarks.push(
      'gateway.host is open to the network without gateway.tls: cookies and tokens are sent unencrypted.',
    );
  if (exposed && gateway.allowedHosts.length === 0 && /^(?:0\.0\.0\.0|::)$/.test(gateway.host))
    remarks.push(
      'add the host names that clients use to gateway.allowedHosts; requests under other names are refused.',
    );
  return { faults, remarks };
}
