import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startModelServer } from '../helpers/model-server/server.js';
import { startToolServer } from '../helpers/tool-server.js';
import { cases } from './cases.js';
import type { TurnSandbox } from '../../actors/session/turn-sandbox.js';
import type { SandboxLevel } from '../../actors/sandbox/levels.js';
import { createSandbox } from '../../actors/sandbox/sandbox.js';
import { programs } from './programs.js';

/**
 * `npm run engines [-- claude codex …]`: the real agent programs, installed at pinned versions into a
 * temporary folder, play real turns through our engines against a scripted model on a loopback port. Where
 * the system allows it, everything after the installation runs in a network namespace that has a loopback and
 * nothing else. `--sandbox` plays all of it confined, at the levels `home` and `workspace`; `--only=worktree,image`
 * plays the cases with such a word in their names. Prints a table; exits with 1 when a case fails. TROUPE_ENGINES_FOLDER keeps
 * the installations for the next time.
 */
const isolated = process.env['TROUPE_ENGINES_ISOLATED'];
const wanted = process.argv.slice(2);
const named = wanted.filter((word) => !word.startsWith('-'));
const chosen = programs.filter(({ name }) => named.length === 0 || named.includes(name));
const levels = wanted.includes('--sandbox') ? (['home', 'workspace'] as const) : (['off'] as const);
const words = wanted.flatMap((word) => /^--only=(.+)$/.exec(word)?.[1]?.split(',') ?? []);
const played = cases.filter(([name]) => words.length === 0 || words.some((word) => name.includes(word)));
if (played.length === 0) throw new Error(`no case is called ${words.join(' or ')}`);
const kept = process.env['TROUPE_ENGINES_FOLDER'];
const folder = kept ?? (await mkdtemp(join(tmpdir(), 'engines-')));
await mkdir(folder, { recursive: true });

try {
  process.exitCode = isolated === undefined ? installAndIsolate() : await playAll(isolated);
} finally {
  if (kept === undefined && isolated === undefined)
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

function installAndIsolate(): number {
  for (const { name, packages } of chosen) {
    const prefix = join(folder, name);
    const done = spawnSync(
      'npm',
      ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--loglevel=error', ...packages],
      { stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 },
    );
    if (done.status !== 0) console.log(`${name}: could not be installed (${packages.join(' ')})`);
  }
  const here = fileURLToPath(import.meta.url);
  const env = { ...process.env, TROUPE_ENGINES_FOLDER: folder };
  const inside = [
    '-rn',
    'sh',
    '-c',
    'ip link set lo up && exec "$@"',
    'sh',
    process.execPath,
    here,
    ...wanted,
  ];
  if (spawnSync('unshare', ['-rn', 'sh', '-c', 'ip link set lo up']).status === 0) {
    return (
      spawnSync('unshare', inside, {
        stdio: 'inherit',
        env: { ...env, TROUPE_ENGINES_ISOLATED: 'loopback only' },
      }).status ?? 1
    );
  }
  return (
    spawnSync(process.execPath, [here, ...wanted], {
      stdio: 'inherit',
      env: { ...env, TROUPE_ENGINES_ISOLATED: 'no network namespace' },
    }).status ?? 1
  );
}

async function playAll(how: string): Promise<number> {
  console.log(`network: ${how}`);
  let failures = 0;
  for (const [program, level] of chosen.flatMap((one) => levels.map((each) => [one, each] as const))) {
    const model = await startModelServer();
    const tools = await startToolServer('tool-token-that-must-not-be-seen');
    const home = await mkdtemp(join(folder, 'home-'));
    const subject = {
      name: program.name,
      folder: home,
      tools,
      model,
      level,
      ...(level === 'off' ? {} : { sandbox: sandboxAt(level, home) }),
      ...(await program.subject({ url: model.url, home, prefix: join(folder, program.name) })),
    };
    console.log(`\n${program.name} (${program.packages.join(' ')}), sandbox ${level}`);
    for (const [name, run] of played) {
      const cannot = program.cannot?.[name];
      if (cannot !== undefined) {
        console.log(`  -     ${name}: ${cannot}`);
        continue;
      }
      try {
        console.log(`  ok    ${name}: ${await run(subject)}`);
      } catch (error) {
        failures += 1;
        console.log(
          `  FAIL  ${name}: ${error instanceof Error ? error.message.slice(0, 500) : String(error)}`,
        );
      }
    }
    await Promise.all([model.close(), tools.close()]);
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
  console.log(failures === 0 ? '\nall cases hold' : `\n${failures} cases failed`);
  return failures === 0 ? 0 : 1;
}

/** The user's own folder is that of the program; what lies around it is hidden as a gateway's home would be. */
function sandboxAt(level: SandboxLevel, home: string): TurnSandbox {
  process.env['HOME'] = home;
  const port = createSandbox({
    hidden: async () => [join(home, 'codex')],
    ownFolders: [],
    isRequired: () => true,
  });
  return { port, levelOf: () => level };
}
