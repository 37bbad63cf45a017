import { basename } from 'node:path';
import { listBundled, readBundled } from '../../records/bundles/home-files.js';
import { parsePlainYaml, type PlainYaml } from '../../records/plain-yaml.js';
import { namesIn, readPlain, unreadable } from './home-files.js';
import { unfitSelection, type Engines } from './selection.js';
import { send, type SendOptions, type Unit } from './send.js';

/** What an employee's file of that server may say and means the same here. */
const members = [
  'name',
  'displayName',
  'department',
  'rank',
  'engine',
  'model',
  'effortLevel',
  'persona',
  'reportsTo',
  'alwaysNotify',
  'emoji',
  'provides',
];

interface Newcomer {
  readonly path: string;
  readonly name: string;
  readonly value: Record<string, unknown>;
  readonly document: PlainYaml['document'];
}

/** Employees, skills, and texts of `knowledge/` and `docs/`. Answers the names of the employees that are known then. */
export async function importTexts(
  home: string,
  { engines, employees }: { readonly engines: Engines; readonly employees: readonly string[] },
  options: SendOptions,
): Promise<ReadonlySet<string>> {
  const newcomers = await readNewcomers(home, { engines, employees }, options);
  const units: Unit[] = newcomers.map(({ path, document }) => ({
    area: 'employee',
    name: path,
    part: { files: { [path]: String(document) } },
  }));
  const taken = await send(units, options);
  for (const [folder, area] of [
    ['skills', 'skill'],
    ['knowledge', 'text'],
  ] as const)
    await send(await textUnits(home, folder, area, options), options);
  await send(await docUnits(home, options), options);
  const came = newcomers
    .filter(({ path }) => taken.some(({ name }) => name === path))
    .map(({ name }) => name);
  return new Set([...employees, ...came]);
}

async function readNewcomers(
  home: string,
  { engines, employees }: { readonly engines: Engines; readonly employees: readonly string[] },
  { ledger }: SendOptions,
): Promise<readonly Newcomer[]> {
  const found: Newcomer[] = [];
  for (const path of await listBundled(home, 'org')) {
    const text = await readBundled(home, path);
    if (basename(path) === 'department.yaml') continue; // of no use without its employees, and the folder names it
    const parsed =
      typeof text === 'string' ? parsePlainYaml(text, 262_144) : { fault: 'it is no plain file' };
    const value = 'fault' in parsed ? undefined : parsed.value;
    if ('fault' in parsed || typeof value !== 'object' || value === null || Array.isArray(value)) {
      ledger.leave('employee', path, 'fault' in parsed ? `Unusable: ${parsed.fault}.` : 'It says nothing.');
      continue;
    }
    const said = value as Record<string, unknown>;
    const { document } = parsed;
    const drop = (member: string, why: string): void => {
      if (!(member in said)) return;
      delete said[member];
      document.delete(member);
      ledger.change('employee', path, why);
    };
    for (const member of Object.keys(said))
      if (!members.includes(member))
        drop(member, `${member} was left out: it means something else here, or nothing.`);
    for (const member of unfitSelection(engines, said))
      drop(member, `Its ${member} is not known here: it gets the default one.`);
    const [, folder = ''] = path.split('/');
    const name = String(said['name'] ?? basename(path, '.yaml'));
    const place = `org/${String(said['department'] ?? folder)}/${name}.yaml`;
    if (place !== path) ledger.change('employee', path, 'Its file is named after its name and department.');
    found.push({ path: place, name, value: said, document });
  }
  // Circles, unknown superiors: that server takes them, this one refuses them
  const names = [...employees, ...found.map(({ name }) => name)];
  for (const { name, path, value, document } of found) {
    const isLost = [value['reportsTo']]
      .flat()
      .some((above) => above != null && !names.includes(String(above)));
    if (!isLost && !leadsBack(name, found)) continue;
    delete value['reportsTo'];
    document.delete('reportsTo');
    ledger.change(
      'employee',
      path,
      `It reported to ${isLost ? 'someone unknown' : 'itself, perhaps by way of others'}.`,
    );
  }
  return found;
}

function leadsBack(name: string, people: readonly Newcomer[]): boolean {
  let at = name;
  for (let steps = 0; steps <= people.length; steps += 1) {
    const [above] = [people.find((one) => one.name === at)?.value['reportsTo']].flat();
    if (above == null) return false;
    at = String(above);
    if (at === name) return true;
  }
  return false;
}

async function textUnits(
  home: string,
  folder: 'skills' | 'knowledge',
  area: 'skill' | 'text',
  { ledger }: SendOptions,
): Promise<readonly Unit[]> {
  const units: Unit[] = [];
  for (const path of await listBundled(home, folder)) {
    const text = await readBundled(home, path);
    if (typeof text === 'string') units.push({ area, name: path, part: { files: { [path]: text } } });
    else ledger.leave(area, path, unreadable);
  }
  return units;
}

/** Here texts stand in one folder. */
async function docUnits(home: string, { ledger }: SendOptions): Promise<readonly Unit[]> {
  const units: Unit[] = [];
  for (const name of await namesIn(home, 'docs')) {
    const path = `knowledge/docs/${name}`;
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.md$/.test(name)) {
      ledger.leave('text', `docs/${name}`, 'It is no Markdown file with a plain name.');
      continue;
    }
    const text = await readPlain(home, `docs/${name}`);
    if (text === undefined) {
      ledger.leave('text', `docs/${name}`, unreadable);
      continue;
    }
    units.push({ area: 'text', name: path, part: { files: { [path]: text } } });
    ledger.change('text', `docs/${name}`, 'It stands in knowledge/docs/.');
  }
  return units;
}
