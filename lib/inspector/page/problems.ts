import { computed } from '@preact/signals';
import { stateNames } from '../../../machines/state-names.js';
import { attention, keyOfWaiting, type Waiting } from './attention.js';
import type { ActorSummary, DeadLetters } from '../answers.js';
import type { MissingEngine, SlowActor } from '../stuck-answer.js';
import type { ActorKey } from '../../../machines/outputs.js';
import type { Place, WaitingPlace } from './place.js';
import { keyOf, stuck, stuckError } from './stuck.js';

/** One row of the list of all that is stuck, whatever it is that does not go on. */
export type Problem = {
  readonly key: string;
  readonly kind: string;
  readonly id: string;
  readonly title: string;
  /** One word: by it rows are filtered. */
  readonly state: string;
  /** Who can end it. */
  readonly on: string;
  readonly since: number;
  /** When it ends by itself; null: never. */
  readonly until: number | null;
  readonly at: Place;
} & (
  | { readonly type: 'decision'; readonly waiting: Waiting }
  | { readonly type: 'stopped'; readonly actor: ActorSummary }
  | { readonly type: 'slow'; readonly actor: SlowActor }
  | { readonly type: 'engine'; readonly engine: MissingEngine }
  | { readonly type: 'letter'; readonly letter: Letter }
);
export type Letter = DeadLetters['deadLetters'][number];

/** All of it; undefined until all was read. */
export const problems = computed((): readonly Problem[] | undefined => {
  if (attention.value === undefined || (stuck.value === undefined && stuckError.value === undefined))
    return undefined;
  const { waiting } = attention.value;
  const waits = new Set(waiting.map(keyOf));
  // What waits for a decision stands with it, unless it is halted: then no decision reaches it
  const isAlone = (actor: ActorSummary): boolean => actor.halted !== null || !waits.has(keyOf(actor));
  const { stopped = [], slow = [], engines = [], deadLetters = [] } = stuck.value ?? {};
  return [
    ...waiting.map(ofDecision),
    ...engines.map(ofEngine),
    ...stopped.filter(isAlone).map(ofStopped),
    ...slow.filter(isAlone).map(ofSlow),
    ...deadLetters.map(ofLetter),
  ];
});

const ofDecision = (waiting: Waiting): Problem => ({
  type: 'decision',
  waiting,
  key: keyOfWaiting(waiting),
  kind: waiting.kind,
  id: waiting.id,
  title: waiting.title,
  state: waiting.what,
  on: waiting.on,
  since: Date.parse(waiting.since),
  until: waiting.until === null ? null : Date.parse(waiting.until),
  at:
    waiting.kind === 'workflow-run' && waiting.within !== undefined
      ? { view: 'runs', workflow: waiting.within, id: waiting.id }
      : actorAt(waiting),
});

const ofStopped = (actor: ActorSummary): Problem => ({
  ...ofActor(actor),
  type: 'stopped',
  actor,
  state: actor.halted === null ? stoppedWord(actor) : 'halted',
  on: person,
  since: actor.halted?.at ?? actor.since,
  until: null,
});

const ofSlow = (actor: SlowActor): Problem => ({
  ...ofActor(actor),
  type: 'slow',
  actor,
  state: actor.why === 'long' ? 'long at work' : actor.why,
  on: actor.why === 'queued' ? 'an earlier run' : 'its agent',
  since: actor.slowSince,
  until: null,
  ...(actor.behind != null && {
    at: { view: 'runs', workflow: actor.behind.workflow, id: actor.id } as const,
  }),
});

const ofEngine = (engine: MissingEngine): Problem => ({
  type: 'engine',
  engine,
  key: `engine ${engine.name}`,
  kind: 'engine',
  id: engine.name,
  title: `${engine.name} cannot run`,
  state: 'missing engine',
  on: person,
  since: engine.since,
  until: null,
  at: { view: 'supervision' },
});

const ofLetter = (letter: Letter): Problem => ({
  type: 'letter',
  letter,
  ...letter.actor,
  key: keyOfLetter(letter),
  title: (letter.event as { readonly type?: string } | null)?.type ?? 'event',
  state: 'dead letter',
  on: person,
  since: letter.at,
  until: null,
  at: actorAt(letter.actor),
});

const ofActor = (actor: ActorSummary) => ({
  key: keyOf(actor),
  kind: actor.kind,
  id: actor.id,
  title: actor.title ?? actor.id,
  at: actorAt(actor),
});
const actorAt = ({ kind, id }: ActorKey): Place => ({ view: 'actor', kind, id });
/** As the API names who may decide: a person. */
const person = 'operator';

export const keyOfLetter = ({ id, at }: { readonly id: string; readonly at: number }): string =>
  `${id} ${at}`;

/** The word of the state in which nothing goes on by itself. */
const stoppedWord = ({ value }: ActorSummary): string =>
  stateNames(value)
    .map((name) => name.split('.').at(-1) ?? '')
    .find((word) => /^(?:error|blocked|interrupted|failed|escalated)$/.test(word)) ?? 'stopped';

export const problemsCount = computed((): number | undefined => problems.value?.length);

/** What the number counts: `4 decisions, 1 stopped, 2 queued, silent or long at work, 1 dead letter`. */
export const problemsInWords = computed((): string => {
  const count = (...types: readonly Problem['type'][]): number =>
    (problems.value ?? []).filter(({ type }) => types.includes(type)).length;
  const parts: readonly (readonly [number, string, string])[] = [
    [count('decision'), 'waits for a decision', 'wait for a decision'],
    [count('stopped', 'engine'), 'stopped', 'stopped'],
    [count('slow'), 'queued, silent or long at work', 'queued, silent or long at work'],
    [count('letter'), 'dead letter', 'dead letters'],
  ];
  return parts
    .filter(([found]) => found > 0)
    .map(([found, one, many]) => `${found} ${found === 1 ? one : many}`)
    .concat(isMore.value ? ['and more'] : [])
    .join(', ');
});

/** Not all of it was read. */
export const isMore = computed((): boolean => attention.value?.isCut === true || stuck.value?.isCut === true);

/** The rows that a place shows, in its order: longest first where it names none. Every word is somewhere in a row. */
export function shownAt(
  { find = '', state, on, age = 0, by = 'since', isDown = false }: WaitingPlace,
  all: readonly Problem[],
  atMs: number,
): readonly Problem[] {
  const words = find.toLowerCase().split(/\s+/);
  const found = all.filter((one) => {
    const { title, kind, id } = one;
    const said = [title, kind, id, one.state, wordsOfState(one.state), one.on, causeOf(one)];
    const text = said.join(' ').toLowerCase();
    return (
      (state === undefined || one.state === state) &&
      (on === undefined || one.on === on) &&
      atMs - one.since >= age * 1_000 &&
      words.every((word) => text.includes(word))
    );
  });
  const valueOf = (one: Problem): string | number =>
    by === 'since' || by === 'until'
      ? (one[by] ?? Infinity)
      : (by === 'state' ? wordsOfState(one.state) : one[by]).toLowerCase();
  return found.sort((a, b) => {
    const [x, y] = isDown ? [valueOf(b), valueOf(a)] : [valueOf(a), valueOf(b)];
    return x < y ? -1 : x > y ? 1 : a.key < b.key ? -1 : 1;
  });
}

/** What it says of why; of a decision that is read where it is shown. */
export function causeOf(one: Problem): string {
  if (one.type === 'letter') return one.letter.error;
  if (one.type === 'engine') return one.engine.reason ?? '';
  return one.type === 'stopped' ? (one.actor.reason ?? '') : '';
}

/** Of a connection that fails each time: no try repairs what was set up, or is broken beyond. */
export const whatHelps =
  'it is tried again by itself; if it fails each time, correct its address or its secret in config.yaml, which ' +
  'is read again at once';

/** The states of what is stuck, in plain words: `wordsOfState('gate')` is `gate of a run`. */
export const wordsOfState = (state: string): string => stateWords[state] ?? state;

const stateWords: Readonly<Record<string, string>> = {
  permission: 'permission for a tool',
  gate: 'gate of a run',
  activation: 'program to approve',
  version: 'version to approve',
  budget: 'budget used up',
  resume: 'interrupted turn',
  silent: 'silent turn',
  quiet: 'silent turn',
  trust: 'folder to trust',
  move: 'escalated work item',
  delivery: 'message not delivered',
  connector: 'connector fails',
  notification: 'notices fail',
  backup: 'backups fail',
  worker: 'worker is away',
  queued: 'queued run',
};
