import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The files of a golden home that people write: roster, skills, documents, settings. Programs lie beside the home,
 * because their addresses are this machine's.
 */
export interface Surroundings {
  /** Where `bin/claude` is: beside the home. */
  readonly folder: string;
  /** Where webhooks go: `http://127.0.0.1:PORT`. */
  readonly farSide: string;
  /** Whether the engine `slow` goes on until it is ended; else it answers at once. */
  readonly isSlow: boolean;
}

/** The settings of a golden home; everything of the machine it is opened on comes in here and nowhere else. */
export const configOf = ({ folder, farSide, isSlow }: Surroundings, connectors: readonly string[]): string =>
  `
portal: { companyName: Golden Works }
gateway: { port: 0 }
sessions: { roots: [/tmp], interruptOnNewMessage: false }
budgets: { enforce: false }
approvals: { escalateAfterHours: 8760 }
log: { keepDays: 36500 }
engines:
  default: clerk
  maxProcesses: 64
  quick: { command: [/bin/cat] }
  slow: { command: [/bin/sh, -c, 'said=$(cat); case "$said" in *${isSlow ? 'sleep' : 'never'}) touch asleep; exec sleep 600;; esac; echo "$said"'] }
  failing: { command: [/bin/sh, -c, 'echo it broke >&2; exit 3'] }
  claude: { bin: ${join(folder, 'bin', 'claude')} }
connectors:
  instances:
${connectors
  .map(
    (name) =>
      `    - { name: ${name}, type: webhook, url: "${farSide}/${name}", secret: not-a-secret-${name}-0123456789 }\n`,
  )
  .join('')}`;

/** More settings of a home that is being made: turns that outlive their gateway would not be cut off. */
export const withoutWorkers = 'agents: { worker: false }\n';

/** Notices of approvals alone, because an opening changes none of them: a day later, to a channel that goes later. */
export const notifyLater = `notify:
  what: [approval]
  afterSeconds: 86400
  url: https://troupe.example.org
  to:
    - { connector: steady, channel: later }
    - { connector: steady, channel: gone }
`;

/** Notices at once. The program ends with `exitCode`, and what is sent through `sending` takes its time. */
export const notifyAtOnce = (exitCode: number): string => `notify:
  what: [approval]
  afterSeconds: 0
  timeoutSeconds: 300
  url: https://troupe.example.org
  command: [/bin/sh, -c, 'cat > /dev/null; exit ${exitCode}']
  to:
    - { connector: steady, channel: later }
    - { connector: steady, channel: general }
    - { connector: sending, channel: general }
`;

export const connectorNames = ['steady', 'stopped', 'broken', 'opening', 'sending'] as const;

/** A program that speaks Claude Code's protocol, with a script in place of a model. */
export async function installPrograms(folder: string): Promise<void> {
  const peer = fileURLToPath(new URL('../fixtures/agents/claude.js', import.meta.url));
  await mkdir(join(folder, 'bin'), { recursive: true });
  const path = join(folder, 'bin', 'claude');
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${peer}' "$@"\n`);
  await chmod(path, 0o755);
}

export async function furnish(home: string, config: string): Promise<void> {
  const files: Readonly<Record<string, string>> = {
    'config.yaml': config,
    'org/board/department.yaml': 'displayName: The Board\n',
    'org/board/chief.yaml': 'displayName: Chief\nrank: executive\npersona: Leads.\n',
    'org/build/department.yaml': 'displayName: Building\n',
    'org/build/bob.yaml': 'rank: manager\nreportsTo: chief\nengine: clerk\n',
    'org/build/ann.yaml': 'rank: employee\nreportsTo: bob\nengine: claude\nmonthlyBudgetUsd: 100\n',
    'org/build/dan.yaml': 'rank: employee\nreportsTo: bob\nengine: claude\nmonthlyBudgetUsd: 0.012\n',
    'org/sales/department.yaml': 'displayName: Selling\n',
    'org/sales/cat.yaml': 'rank: employee\nreportsTo: chief\nengine: claude\nmonthlyBudgetUsd: 0.005\n',
    'knowledge/tea.md': '# Tea\nWater the plants, then brew tea.\n',
    'knowledge/deep/er/ink.md': '# Ink\nFills pens.\n',
    'docs/house.md': '# House\nWho waters the plants?\n',
    'skills/brew/SKILL.md': '---\nname: brew\ndescription: Brews tea.\n---\n\n# brew\n',
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}
