import { floorOf, packages, roomOf } from './floors.js';
import type { Source } from './sources.js';

/**
 * The rules of the house as pure functions: sources in, sentences about what breaks them out. Empty is good.
 */

/** Every import stays in its room or goes down. */
export function upwardImports(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, imports }) => {
    const room = roomOf(path);
    if (room === undefined) return [`${path} belongs to no room: name its floor in spec/house/floors.ts`];
    return imports.flatMap(({ file }) => {
      if (file === undefined) return [];
      const target = roomOf(file);
      if (target === undefined) return [`${path} imports ${file}, which belongs to no room`];
      return target === room || floorOf(target) < floorOf(room)
        ? []
        : [`${path} (${room}) must not import ${file} (${target})`];
    });
  });
}

/** Every package is imported only where it belongs. */
export function strayPackages(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier, file }) => {
      if (file !== undefined || specifier.startsWith('node:')) return [];
      const name = specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');
      const rooms = packages[name];
      if (rooms === undefined)
        return [`${path} imports the package ${name}, which no room is given in spec/house/floors.ts`];
      return rooms.includes(roomOf(path) ?? '') ? [] : [`${path} must not import the package ${name}`];
    }),
  );
}

/** No file imports itself by way of others. Answers each circle once, as `a → b → a`. */
export function circles(sources: readonly Source[]): readonly string[] {
  const edges = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.flatMap(({ file }) => (file === undefined ? [] : [file])),
    ]),
  );
  const state = new Map<string, 'open' | 'done'>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      found.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      return;
    }
    state.set(path, 'open');
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    state.set(path, 'done');
  };
  for (const path of edges.keys()) visit(path, []);
  return found;
}

/** Machines decide and never do: no clock, no chance, no machine around them. */
export function impurities(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, code, imports }) => [
    ...imports
      .filter(({ specifier }) => specifier.startsWith('node:'))
      .map(({ specifier }) => `${path} imports ${specifier}`),
    ...impure.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => `${path} uses ${match[0]}`)),
  ]);
}

const impure = [
  /\bDate\.now\b/g,
  /\bnew Date\(\s*\)/g,
  /\bDate\(\s*\)/g,
  /\bMath\.random\b/g,
  /\bcrypto\b/g,
  /\brandomUUID\b/g,
  /\bperformance\b/g,
  /\bset(?:Timeout|Interval|Immediate)\b/g,
  /\bqueueMicrotask\b/g,
  /\bprocess\b/g,
  /\bconsole\b/g,
  /\bfetch\b/g,
  /\brequire\b/g,
  /\bglobalThis\b/g,
  /\bcreateActor\b/g,
  /\bfromPromise\b/g,
  /\bfromCallback\b/g,
];

/** Imports of a module of Node (and what lies below it), none in the files of `except`. */
export function importsOf(
  sources: readonly Source[],
  module: string,
  except: readonly string[] = [],
): readonly string[] {
  return sources
    .filter(({ path }) => !except.includes(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => specifier === module || specifier.startsWith(`${module}/`))
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
}

/** The longest way down through files that use each other while the program runs: as many floors as it has files. */
export function longestWay(sources: readonly Source[]): readonly string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const known = new Map<string, readonly string[]>();
  const wayFrom = (path: string): readonly string[] => {
    const found = known.get(path);
    if (found !== undefined) return found;
    known.set(path, []); // a circle has a rule of its own
    let below: readonly string[] = [];
    for (const { file, ofTypes } of byPath.get(path)?.imports ?? []) {
      const way = file === undefined || ofTypes || !byPath.has(file) ? [] : wayFrom(file);
      if (way.length > below.length) below = way;
    }
    const way = [path, ...below];
    known.set(path, way);
    return way;
  };
  return [...byPath.keys()]
    .map(wayFrom)
    .reduce((longest, way) => (way.length > longest.length ? way : longest), []);
}

/** Files that match a pattern in their code, none of `except`. */
export function uses(
  sources: readonly Source[],
  pattern: RegExp,
  except: readonly string[] = [],
): readonly string[] {
  return sources
    .filter(({ path, code }) => !except.includes(path) && pattern.test(code))
    .map(({ path }) => path);
}

/** Casts that no compiler looks at, one path for each. */
export function castsOver(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, code }) => (code.match(/\bas\s+unknown\s+as\b/g) ?? []).map(() => path));
}

/** A file that needs scrolling back and forth is two ideas. */
export function longFiles(sources: readonly Source[], linesMax: number): readonly string[] {
  return sources
    .map(({ path, text }) => [path, text.trimEnd().split('\n').length] as const)
    .filter(([, lines]) => lines > linesMax)
    .map(([path, lines]) => `${path} has ${lines} lines`);
}

/** Files so short that a reader opens several for one thought. */
export function smallFiles(sources: readonly Source[], linesMin: number): readonly string[] {
  return sources
    .map(({ path, text }) => [path, text.trimEnd().split('\n').length] as const)
    .filter(([, lines]) => lines < linesMin)
    .map(([path, lines]) => `${path} has ${lines} lines`);
}

/** Lines that are wider than a screen; one regular expression or one import cannot be broken. */
export function wideLines(sources: readonly Source[], columnsMax: number): readonly string[] {
  return sources.flatMap(({ path, text }) =>
    text
      .split('\n')
      .map((line, n) => [n + 1, line] as const)
      .filter(([, line]) => line.length > columnsMax && !/^\s*\/.+\/[a-z]*[;,]?$|^import /.test(line))
      .map(([n, line]) => `${path}:${n} has ${line.length} columns`),
  );
}

/** Names that say nothing of what is inside. */
export function gatheringPlaces(sources: readonly Source[]): readonly string[] {
  return sources
    .map(({ path }) => path)
    .filter((path) => /(?:^|\/)(?:types|utils|helpers|common|misc)\.tsx?$/.test(path));
}

export const kebabCase = (path: string): boolean =>
  path.split('/').every((part) => /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.spec)?(?:\.tsx?)?$/.test(part));
