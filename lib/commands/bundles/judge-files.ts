import { basename } from 'node:path';
import type { Records } from '../../records/records.js';
import { parsePlainYaml } from '../../records/plain-yaml.js';
import { departmentFile, personOf, type Person } from '../../records/roster/employee.js';
import { onCircles } from '../../records/roster/hierarchy.js';
import { employeeBytesMax } from '../../records/roster/read-roster.js';
import { judged } from '../../records/judged.js';
import { judgeSkillText } from '../../records/skills/skill-text.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { App } from '../app.js';

/**
 * May these files come into the home? Each must be usable as it stands, name an engine and superiors that there are,
 * and take no one's name; the company stays without circles.
 */
export async function judgeFiles(
  app: App,
  { roster }: Records,
  files: Readonly<Record<string, string>>,
): Promise<Refusal | undefined> {
  const newcomers: { readonly path: string; readonly person: Person }[] = [];
  for (const [path, text] of Object.entries(files)) {
    const [root, folder = '', name = ''] = path.split('/');
    const refusal = root === 'skills' ? judgeSkillText(folder, text) : undefined;
    if (refusal) return refuse(refusal.code, { path }, `${path}: ${refusal.message}`);
    if (root !== 'org') continue;
    const person = orgFile(path, text, { name: basename(name, '.yaml'), department: folder });
    if (isRefusal(person)) return person;
    if (person !== undefined) newcomers.push({ path, person });
  }
  const names = newcomers.map(({ person }) => person.name);
  const stay = roster
    .everybody()
    .map(({ person }) => person)
    .filter(({ name }) => !names.includes(name));
  const people = [...stay, ...newcomers.map(({ person }) => person)];
  for (const { path, person } of newcomers) {
    const refusal = judgePerson(path, person, { names, people, roster });
    if (refusal) return refusal;
    const { engine, model, effortLevel } = person;
    const chooses = engine !== undefined || model !== undefined || effortLevel !== undefined;
    const selected = chooses ? await app.engines.select(engine, model, effortLevel) : undefined;
    if (isRefusal(selected)) return refuse(selected.code, { path }, `${path}: ${selected.message}`);
  }
  const lines = new Map(
    people.flatMap(({ name, reportsTo: [above] }) => (above === undefined ? [] : [[name, above]])),
  );
  const [circular] = onCircles(lines);
  return circular === undefined
    ? undefined
    : refuse('BAD_REQUEST', {}, `${circular} would report to itself by way of others.`);
}

/** Someone, nothing (a department), or what is wrong with the file. */
function orgFile(
  path: string,
  text: string,
  place: { readonly name: string; readonly department: string },
): Person | undefined | Refusal {
  const wrong = (fault: string) => refuse('BAD_REQUEST', { path }, `${path} is unusable: ${fault}.`);
  const parsed = parsePlainYaml(text, employeeBytesMax);
  if ('fault' in parsed) return wrong(parsed.fault);
  if (place.name === 'department') {
    const checked = judged(departmentFile, parsed.value ?? {});
    return checked.success ? undefined : wrong(checked.error.issues[0]?.message ?? 'it cannot be used');
  }
  const person = personOf(parsed.value, place);
  if ('fault' in person) return wrong(person.fault);
  // A name of its own would not be found by the file, nor would an export of it
  return person.name === place.name && person.department === place.department
    ? person
    : wrong('its name and department must be those of its path');
}

function judgePerson(
  path: string,
  { name, department, reportsTo }: Person,
  {
    names,
    people,
    roster,
  }: {
    readonly names: readonly string[];
    readonly people: readonly Person[];
    readonly roster: Records['roster'];
  },
): Refusal | undefined {
  const wrong = (sentence: string) => refuse('BAD_REQUEST', { path }, `${path}: ${sentence}`);
  const twin = roster.named(name)?.person;
  // A disk that does not tell large letters from small ones would keep one file of both
  const isAlike = (other: string): boolean => other.toLowerCase() === name.toLowerCase();
  if (names.filter(isAlike).length > 1) return wrong(`${name} is in this bundle twice.`);
  const alike = people.find((other) => other.name !== name && isAlike(other.name));
  if (alike !== undefined)
    return refuse('EXISTS', { path }, `${path}: the name ${alike.name} is taken in ${alike.department}.`);
  if (twin !== undefined && twin.department !== department)
    return refuse('EXISTS', { path }, `${path}: the name ${name} is taken in ${twin.department}.`);
  const unknown = reportsTo.find((above) => !people.some((person) => person.name === above));
  return unknown === undefined
    ? undefined
    : wrong(`it reports to ${unknown}, who is neither here nor in the bundle.`);
}
