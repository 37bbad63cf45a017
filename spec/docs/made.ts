import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callerKinds, verdict } from '../../lib/gateway/authorization.js';
import { cookieJar } from '../../lib/gateway/authentication.js';
import type { Route } from '../../lib/gateway/route.js';
import { routesOf } from '../../lib/gateway/routes/index.js';
import { frameNames } from '../../lib/gateway/websocket/frames.js';
import { configKeys } from '../../lib/home/config-keys.js';
import { layoutOf } from '../../lib/home/layout.js';
import { openEvidence } from '../../lib/records/evidence/evidence.js';
import { openRecords } from '../../lib/records/records.js';
import { systemEnvironment } from '../../lib/environment.js';
import { refusalTable } from '../../machines/refusals.js';
import { apiReference } from './api-report.js';
import { textOf } from './samples.js';

/**
 * The tables of the guides that are made from the code, so that they cannot lag behind it. Each stands in its
 * guide between two marks: `<!-- made: errors -->` and `<!-- end -->`.
 */
export const madeTables: Readonly<Record<string, () => Promise<string> | string>> = {
  errors: errorsTable,
  frames: framesTable,
  keys: keysTable,
  reference: apiReference,
  routes: routesTable,
};

/** The page with its tables made again; the same text where it has none. */
export async function freshPage(page: string): Promise<string> {
  let text = textOf(page);
  for (const [name, make] of Object.entries(madeTables)) {
    const marks = new RegExp(`(<!-- made: ${name} [^>]*-->\n)[^]*?(<!-- end -->)`);
    if (!marks.test(text)) continue;
    const table = await make();
    text = text.replace(marks, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`);
  }
  return text;
}

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows]
    .map(
      (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`,
    )
    .join('\n');

function errorsTable(): string {
  const rows = Object.entries(refusalTable)
    .map(([code, [status, sentence]]) => [`\`${code}\``, String(status), sentence] as const)
    .sort(([a, one], [b, other]) => Number(one) - Number(other) || (a < b ? -1 : 1));
  return table(['code', 'HTTP status', 'means'], rows);
}

function framesTable(): string {
  return table(
    ['event', 'when, and its payload'],
    Object.entries(frameNames).map(([name, about]) => [`\`${name}\``, coded(about)]),
  );
}

/** The members of payloads as code. */
const coded = (text: string): string => text.replace(/(?<!`)\{[^}]*\}(?!`)/g, (members) => `\`${members}\``);

function keysTable(): string {
  return table(
    ['key', 'type', 'default', 'holds', 'about'],
    configKeys().map(({ key, type, standard, isRequired, holds, about }) => [
      `\`${key}\``,
      type,
      isRequired ? 'required' : shownDefault(key, standard),
      holds,
      about,
    ]),
  );
}

function shownDefault(key: string, standard: unknown): string {
  if (key === 'engines.maxProcesses') return 'twice the processors'; // another number on every machine
  return standard === undefined ? '' : `\`${JSON.stringify(standard)}\``;
}

async function routesTable(): Promise<string> {
  const routes = [...(await allRoutes())].sort((one, other) => (one.path < other.path ? -1 : 1));
  return table(
    ['request', 'who', 'about'],
    routes.map((route) => [`\`${route.method} ${route.path}\``, whoMay(route), route.schema.about]),
  );
}

/** The columns of the authority table in a word or two. */
function whoMay({ authority }: Route): string {
  const may = callerKinds.filter((kind) => ['yes', 'policy'].includes(verdict(authority, kind)));
  const [anonymous, people, agents] = [
    may.includes('none'),
    may.includes('operator') || may.includes('device'),
    may.filter((kind) => !['none', 'bad', 'operator', 'device'].includes(kind)),
  ];
  if (anonymous) return 'public';
  const which = agents.length === 0 ? '' : agents.length === 4 ? 'agents' : 'some agents';
  return [people ? 'people' : '', which].filter((word) => word !== '').join(', ');
}

/** Every route there can be: with everything that makes routes possible. */
export async function allRoutes(): Promise<readonly Route[]> {
  const home = await mkdtemp(join(tmpdir(), 'troupe-docs-'));
  const records = await openRecords({
    layout: layoutOf({ home }),
    environment: systemEnvironment(),
    root: null,
  });
  try {
    return routesOf(
      {
        version: '0',
        instance: 'default',
        startedAt: 0,
        authRequired: true,
        networkExposed: false,
        host: '127.0.0.1',
        port: 0,
      },
      {
        backup: () => Promise.reject(new Error('not called')),
        records,
        evidence: await openEvidence({ standard: join(home, 'evidence') }),
        hookSecret: 'of no gateway',
        pairing: { devices: records.devices, cookies: cookieJar('default'), codeKey: 'x' },
        console: { config: () => ({}), edit: async () => ({}), log: async () => [] },
      },
    );
  } finally {
    await records.close();
    await rm(home, { recursive: true });
  }
}
