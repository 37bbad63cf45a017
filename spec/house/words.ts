import type { Source } from './sources.js';

/**
 * Words of an earlier, private dialect, and what the field says instead. They may stand in no identifier, file name
 * or sentence for users. The glossary is in CONTRIBUTING.
 */
const retired: Readonly<Record<string, string>> = {
  advice: 'remedy',
  anew: 'again',
  asking: 'request',
  backfill: 'transcript import',
  barred: 'open error',
  birth: 'creation',
  born: 'created',
  crooked: 'malformed',
  crowd: 'group',
  deed: 'action, operation',
  desk: 'app',
  door: 'authentication',
  doors: 'backend',
  doorstep: 'origin',
  errand: 'request',
  hand: 'effect',
  hands: 'effects',
  kin: 'relation',
  kinship: 'relation',
  look: 'check, poll',
  looked: 'checked',
  looking: 'polling',
  looks: 'checks',
  mend: 'remedy, repair',
  mended: 'repaired',
  nobody: 'no one, or the noun',
  outlet: 'sink',
  perform: 'carry out, or what is done',
  performed: 'done',
  performs: 'carries out, or what it does',
  prey: 'target',
  purse: 'budget port',
  roll: 'list',
  shelf: 'store',
  smuggled: 'forbidden member',
  somebody: 'the noun',
  spot: 'step run',
  spots: 'steps',
  standing: 'relation, position',
  standpoint: 'relation',
  stranger: 'outsider',
  strangers: 'outsiders',
  tell: 'report, publish, notify',
  telling: 'reporting',
  tells: 'reports',
  told: 'reported',
  turnstile: 'router',
  visitor: 'client',
  visitors: 'clients',
  waker: 'subscriber',
  wakers: 'subscribers',
  whoever: 'the noun',
  wish: 'input, output',
  wishes: 'outputs',
  workplace: 'working directory',
};

/** Retired words in file names and identifiers. `exempt`: names of the wire, of configuration and of stored records. */
export function retiredNames(
  sources: readonly Source[],
  exempt: ReadonlySet<string>,
  isRetired = isRetiredWord,
): readonly string[] {
  return sources.flatMap(({ path, code }) => [
    ...partsOf(path)
      .filter(isRetired)
      .map((word) => `${path} is named "${word}": ${retired[word]}`),
    ...[...new Set(code.match(/[A-Za-z_$][\w$]*/g))]
      .filter((name) => !exempt.has(name))
      .flatMap((name) =>
        partsOf(name)
          .filter(isRetired)
          .map((word) => `${path}: ${name}: ${retired[word]}`),
      ),
  ]);
}

/** Retired words inside of strings. `exempt`: whole strings that are names of the wire. */
export function retiredSentences(sources: readonly Source[], exempt: ReadonlySet<string>): readonly string[] {
  return sources.flatMap(({ path, strings }) =>
    strings
      .filter((text) => !exempt.has(text) && !/^[./]/.test(text))
      .flatMap((text) =>
        (text.toLowerCase().match(/[a-z]+/g) ?? [])
          // In plain English hands are handed over
          .filter((word) => isRetiredWord(word) && !/^hands?$/.test(word))
          .map((word) => `${path}: "${text}": ${retired[word]}`),
      ),
  );
}

/**
 * Retired words inside of comments. What is plain English there stays: people are told, look and wish, and hands are
 * handed over.
 */
export function retiredComments(sources: readonly Source[], exempt: ReadonlySet<string>): readonly string[] {
  return sources.flatMap(({ path, comments }) =>
    (comments.toLowerCase().match(/[a-z]+/g) ?? [])
      .filter((word) => isRetiredWord(word) && !plain.has(word) && !exempt.has(word))
      .map((word) => `${path}: a comment says "${word}": ${retired[word]}`),
  );
}

const plain = new Set(
  'advice hand hands look looked looking looks roll standing tell telling tells told wish wishes'.split(' '),
);

/** In specs what is plain English may also be the name of a variable: `told`, `look`, `asking`. */
export const isRetiredInSpecs = (word: string): boolean =>
  isRetiredWord(word) && !plain.has(word) && !/^(?:asking|perform)$/.test(word);

const isRetiredWord = (word: string): boolean => Object.hasOwn(retired, word);

/** `mayHandOver` → may, hand, over */
const partsOf = (name: string): readonly string[] =>
  name.split(/[^A-Za-z]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).map((part) => part.toLowerCase());
