import type { ActorSummary, Fleet, SupervisionTree } from '../inspector/answers.js';
import type { InspectEntry } from '../client/inspector-frames.js';
import { ago, plainText } from './print.js';
import { entryLine, stateText } from './tail.js';
import type { Times } from './times.js';

/** One picture of `troupe top`: lines of text, as wide and as many as the terminal takes. */
export interface TopData {
  readonly title: string;
  readonly fleet: Fleet;
  readonly tree: SupervisionTree;
  /** Actors with an effect in flight or a state that has one, longest first. */
  readonly busy: readonly ActorSummary[];
  /** Youngest last. */
  readonly recent: readonly InspectEntry[];
  /** Events per second, once there are two looks. */
  readonly rate: number | null;
  /** Things that wait for a person. */
  readonly waiting: number;
  readonly times: Pick<Times, 'timeOfDay'>;
}

export interface TopSize {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
}

export function topFrame(
  { title, fleet, tree, busy, recent, rate, waiting, times }: TopData,
  { columns, rows, colour }: TopSize,
): readonly string[] {
  const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const bad = tree.root.subsystems.filter(({ failing }) => failing !== null);
  const kinds = tree.kinds.map((rules) => {
    const counted = fleet.kinds.find(({ kind }) => kind === rules.kind);
    const states = Object.entries(counted?.states ?? {})
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => `${name} ${count}`)
      .join('  ');
    return { rules, halted: counted?.halted ?? 0, states };
  });
  const widest = Math.max(6, ...kinds.map(({ states }) => states.length));
  const state = paint(tree.root.state === 'running' ? 32 : 31, tree.root.state);
  const head = [
    `${paint(1, title)}  ${state}`,
    `log ${fleet.seq}  ${rate === null ? '-' : rate.toFixed(rate < 10 ? 1 : 0)} events/s  ` +
      `${fleet.effects} effects  ${fleet.awake} awake  ${fleet.restarts} restarts  ${fleet.deadLetters} ` +
      `dead letters${waiting === 0 ? '' : `  ${waiting} ${waiting === 1 ? 'waits' : 'wait'} for you`}`,
    ...bad.map(({ name, failing }) => paint(31, plainText(`  ${name}: ${failing}`))),
    '',
    paint(
      7,
      line(['KIND', 'TOTAL', 'HALTED', 'FAILING', 'RESTARTS', 'STATES'.padEnd(widest), 'RULES'], columns),
    ),
    ...kinds.map(({ rules, halted, states }) => {
      const text = line(
        [
          rules.kind,
          String(rules.total),
          String(halted),
          String(rules.failing.length),
          String(rules.restarts),
          states.padEnd(widest),
          `${rules.strategy} ${rules.intensity}/${rules.periodSeconds} s`,
        ],
        columns,
      );
      return halted > 0 || rules.failing.length > 0 ? paint(31, text) : text;
    }),
    ...tree.kinds.flatMap(({ kind, halted }) =>
      halted
        .slice(0, 3)
        .map(({ id, at, reason }) =>
          paint(31, cut(plainText(`  halted ${kind}/${id} for ${ago(at, tree.at)}: ${reason}`), columns)),
        ),
    ),
    '',
    cut(
      `circuits  ${tree.circuits.map(({ name, state: is }) => `${marks[is]} ${plainText(name)}`).join('  ') || 'none'}`,
      columns,
    ),
    '',
    paint(7, cut('AT WORK'.padEnd(columns), columns)),
  ];
  const room = Math.max(4, rows - head.length - 3);
  const work = treeLines(busy, fleet.at, columns).slice(0, Math.ceil(room / 2));
  const tail = recent
    .slice(-Math.max(1, room - work.length))
    .map((entry) => cut(entryLine(entry, times), columns));
  return [
    ...head,
    ...(work.length > 0 ? work : ['  none']),
    '',
    paint(7, cut('LATELY'.padEnd(columns), columns)),
    ...tail,
  ].slice(0, rows);
}

const marks = { closed: '●', 'half-open': '◐', open: '○' } as const;
const widths = [12, 7, 6, 7, 8];

const line = (cells: readonly string[], columns: number): string =>
  cut(cells.map((cell, n) => printable(cell).padEnd(widths[n] ?? 0)).join(' '), columns);
const cut = (text: string, columns: number): string =>
  text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;

/** Children below their parents, where both are at work. */
function treeLines(busy: readonly ActorSummary[], now: number, columns: number): readonly string[] {
  const name = ({ kind, id }: { readonly kind: string; readonly id: string }): string => `${kind}/${id}`;
  const known = new Set(busy.map(name));
  const seen = new Set<string>();
  const below = (parent: string | null, depth: number): string[] =>
    busy
      .filter(
        (actor) =>
          (actor.parent === null || !known.has(name(actor.parent)) ? null : name(actor.parent)) === parent &&
          !seen.has(name(actor)),
      )
      .flatMap((actor) => {
        seen.add(name(actor));
        const text =
          `${'  '.repeat(depth + 1)}${name(actor)}  ${stateText(actor.value)} ${ago(actor.since, now)}  ` +
          `${actor.effects.join(' ')}${actor.title === null ? '' : `  ${actor.title}`}`;
        return [cut(plainIndented(text), columns), ...below(name(actor), depth + 1)];
      });
  return below(null, 0);
}

const plainIndented = (text: string): string => `${/^ */.exec(text)?.[0] ?? ''}${plainText(text)}`;
/** Without control characters, its blanks kept: columns stand on them. */
const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '');
