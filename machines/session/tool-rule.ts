/**
 * Permission rules, as Claude Code writes them: `Bash(git status *)`, `Edit(src/**)`, `Read(//etc/hosts)`,
 * `WebFetch(domain:example.com)`; a name alone (`TodoWrite`, `mcp__docs__*`) is a whole tool. What is asked for is
 * told by engines in the same words, so that a rule means the same for all of them.
 *
 * A rule that names commands never lets a shell do more than run one program with plain words: what joins, feeds
 * or substitutes commands matches no pattern. Wildcards of paths match no name that begins with a dot: `.git` and
 * `.claude` hold programs that run by themselves.
 */
export interface ToolRule {
  readonly tool: string;
  /** What stands in parentheses; absent: the whole tool. */
  readonly specifier?: string;
}

/** `toolRule('Bash(git *)')` is `{tool: 'Bash', specifier: 'git *'}`; undefined for what is no rule. */
export function toolRule(text: string): ToolRule | undefined {
  const found = /^([\w*.:/@ -]{1,200}?)(?:\(([^\0-\x1f]{1,5000})\))?$/.exec(text);
  const [, tool, specifier] = found ?? [];
  if (tool === undefined || (specifier !== undefined && !specified.has(tool))) return undefined;
  return specifier === undefined ? { tool } : { tool, specifier };
}

/** Of these a part may be named; of others the whole tool. */
const specified: ReadonlySet<string> = new Set(['Bash', 'Edit', 'Read', 'WebFetch']);

/** Does a rule let all of a tool's uses pass, though a tool runs commands? No one is asked to say that in passing. */
export const isWholesale = ({ tool, specifier }: ToolRule): boolean =>
  (tool.includes('*') && !tool.startsWith('mcp__')) ||
  (specifier === undefined ? specified.has(tool) : /^[*:\s/]*$/.test(specifier));

export interface Asked {
  /** The engine's own name of the tool. */
  readonly tool: string;
  readonly uses?: ToolUse | undefined;
}

/** Does the rule let this pass? Paths of the rule and of what is asked are absolute: see `anchoredRule`. */
export function ruleAllows(text: string, { tool, uses }: Asked): boolean {
  const rule = toolRule(text);
  if (rule === undefined) return text === tool;
  const { specifier } = rule;
  if (specifier === undefined)
    return rule.tool.endsWith('*')
      ? tool.startsWith(rule.tool.slice(0, -1))
      : tool === rule.tool || uses?.tool === rule.tool;
  if (uses?.tool !== rule.tool) return false;
  switch (uses.tool) {
    case 'Bash':
      return (
        isPlainCommand(uses.command) &&
        commandMatches(specifier, uses.command.trim()) &&
        !reachesFurther(specifier, uses.command)
      );
    case 'WebFetch':
      return specifier.startsWith('domain:') && hostMatches(specifier.slice(7), uses.host);
    default:
      return uses.paths.length > 0 && uses.paths.every((path) => pathMatches(specifier, path));
  }
}

/** One program with plain words: nothing that a shell joins, feeds, substitutes or carries to another line. */
const isPlainCommand = (command: string): boolean =>
  command.length <= 4_096 && !/[&|;<>`$()\n\r\0\\]/.test(command);

/** `git *` is `git` and whatever follows it; `git status` is that alone. `git:*` is an older way to say `git *`. */
function commandMatches(specifier: string, command: string): boolean {
  const pattern = specifier.replace(/:\*$/, ' *');
  return wildcardMatches(pattern, command) || (pattern.endsWith(' *') && command === pattern.slice(0, -2));
}

/**
 * By these options `git diff`, `git merge`, `go test`, `cargo build` and the like write a file of one's choice or run a
 * program: a wildcard does not stand for them, nor for one more of those that are named, nor for braces that a shell
 * makes them of; a person is asked. Git takes beginnings of their names, too.
 */
function reachesFurther(specifier: string, command: string): boolean {
  if (!specifier.includes('*')) return false; // it names the very command
  const named = furtherIn(specifier);
  for (const option of furtherIn(command)) {
    const at = named.indexOf(option);
    if (at < 0) return true;
    named.splice(at, 1);
  }
  return hasBraces(command) && !hasBraces(specifier);
}

/** `{a,b}` and `{a..b}` become words of their own; `HEAD@{1}` does not. */
const hasBraces = (command: string): boolean =>
  command.includes('{') && /,|\.\./.test(command.slice(command.indexOf('{'), command.lastIndexOf('}') + 1));

const furtherIn = (command: string): string[] =>
  [...command.replace(/["']/g, '').matchAll(furtherOptions)].map(([, option = '']) => option);
const furtherOptions = new RegExp(
  `[\\s{,](-(?:${[
    '-?(?:toolexec|vettool|exec|exec-path|config|overlay|modfile)',
    '-ou[a-z]*|-ex(?:e[a-z-]*)?|-ext[a-z-]*|-text[a-z]*|-str[a-z]*|-upl[a-z-]*',
  ].join('|')}))(?![\\w-])`,
  'g',
);

const hostMatches = (pattern: string, host: string): boolean =>
  host !== '' && (pattern === host || (/^\*\..+\../.test(pattern) && host.endsWith(pattern.slice(1))));

/** `**` is any number of folders, `*` any part of one name. */
function pathMatches(specifier: string, path: string): boolean {
  if (!path.startsWith('/') || !specifier.startsWith('//')) return false;
  return namesMatch(specifier.slice(2).split('/'), path.slice(1).split('/'));
}

function namesMatch(patterns: readonly string[], names: readonly string[]): boolean {
  // whether the patterns so far fit the first names, for each number of them
  let fits = [true, ...names.map(() => false)];
  for (const pattern of patterns) {
    const next = [pattern === '**' && fits[0] === true];
    for (const [before, name] of names.entries())
      next.push(
        pattern === '**'
          ? fits[before + 1] === true || (next[before] === true && !isHidden(name))
          : fits[before] === true && nameMatches(pattern, name),
      );
    fits = next;
  }
  return fits[names.length] === true;
}

const isHidden = (name: string): boolean => name.startsWith('.');
const nameMatches = (pattern: string, name: string): boolean =>
  !(pattern.startsWith('*') && isHidden(name)) && wildcardMatches(pattern, name);

/** `*` is anything; in time that grows with the product of both lengths, whatever they are. */
function wildcardMatches(pattern: string, text: string): boolean {
  let [at, in_, star, back] = [0, 0, -1, 0];
  while (at < text.length) {
    if (pattern[in_] === '*') [star, back, in_] = [in_, at, in_ + 1];
    else if (pattern[in_] === text[at]) [at, in_] = [at + 1, in_ + 1];
    else if (star >= 0) [in_, back, at] = [star + 1, back + 1, back + 1];
    else return false;
  }
  while (pattern[in_] === '*') in_ += 1;
  return in_ === pattern.length;
}

/**
 * A rule whose paths begin at the root: `Edit(src/**)` in `/w` is `Edit(//w/src/**)`. So it means the same
 * wherever it is passed on to. One that leads out of its folder by `..` allows nothing.
 */
export function anchoredRule(text: string, cwd: string): string {
  const { tool, specifier } = toolRule(text) ?? {};
  if (specifier === undefined || (tool !== 'Edit' && tool !== 'Read') || specifier.startsWith('//'))
    return text;
  // a folder whose own name holds a wildcard would stand for others: in it the rule allows nothing
  if (cwd.includes('*')) return `${tool}(//..)`;
  return `${tool}(/${cwd.replace(/\/+$/, '')}/${specifier.replace(/^(?:\.?\/)+/, '')})`;
}

/** What both sets let pass: of each those rules that the other one covers. */
export function commonRules(one: readonly string[], other: readonly string[]): readonly string[] {
  return [
    ...new Set([
      ...one.filter((rule) => other.some((wider) => covers(wider, rule))),
      ...other.filter((rule) => one.some((wider) => covers(wider, rule))),
    ]),
  ];
}

/** Does all that the narrower rule allows pass the wider one? Where it is not sure, no. */
export function covers(wider: string, narrower: string): boolean {
  if (wider === narrower) return true;
  const [most, least] = [toolRule(wider), toolRule(narrower)];
  if (most === undefined || least === undefined) return false;
  if (most.specifier === undefined)
    return most.tool.endsWith('*')
      ? least.specifier === undefined && least.tool.startsWith(most.tool.slice(0, -1))
      : most.tool === least.tool;
  if (least.specifier === undefined || most.tool !== least.tool) return false;
  // its wildcards are characters like others: where they match a wildcard, so does what stands for them
  if (most.tool === 'Bash') {
    const pattern = least.specifier.replace(/:\*$/, ' *');
    const matching = pattern.endsWith(' *') ? [pattern, pattern.slice(0, -2)] : [pattern];
    const widest = most.specifier;
    return matching.every((text) => commandMatches(widest, text) && !reachesFurther(widest, text));
  }
  if (most.tool === 'WebFetch') return false;
  const folder = /^(\/\/[^*]*)\/\*\*$/.exec(most.specifier)?.[1];
  return (
    folder !== undefined &&
    least.specifier.startsWith(`${folder}/`) &&
    !least.specifier
      .slice(folder.length + 1)
      .split('/')
      .some((name) => isHidden(name))
  );
}

/**
 * The narrowest rule that still spares a person the next question: of programs with commands of their own the
 * first words (`git status *`), else this very command; the folder of a file; the host. Undefined where only this
 * one use can be allowed.
 *
 * @example proposedRule({ tool: 'Bash', uses: { tool: 'Bash', command: 'npm test -- x' } }, '/w') // 'Bash(npm test *)'
 */
export function proposedRule({ tool, uses }: Asked, cwd: string): string | undefined {
  const rule = uses === undefined ? named(tool) : ruleOf(uses, cwd);
  if (rule === undefined || rule.length > ruleCharsMax) return undefined;
  const parsed = toolRule(rule);
  const fits =
    parsed !== undefined && !isWholesale(parsed) && ruleAllows(anchoredRule(rule, cwd), { tool, uses });
  return fits ? rule : undefined;
}

export const ruleCharsMax = 500;
/** The same once it is bound to its folder, as it is kept and shown, and may be sent back. */
export const anchoredRuleCharsMax = 5_000;

/** Of a name or a command that was asked for, `*` would become a wildcard. */
const named = (rule: string): string | undefined => (rule.includes('*') ? undefined : rule);

function ruleOf(uses: ToolUse, cwd: string): string | undefined {
  switch (uses.tool) {
    case 'Bash':
      return bashRule(uses.command.trim());
    case 'WebFetch':
      return named(`WebFetch(domain:${uses.host})`);
    default: {
      const place = placeOf(uses.paths, cwd);
      return place === undefined ? undefined : `${uses.tool}(${place})`;
    }
  }
}

/** The one folder of all these files below the working folder, or the one file that lies in that itself. */
function placeOf(paths: readonly string[], cwd: string): string | undefined {
  const names = paths.map((path) =>
    path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1).split('/') : ['.'],
  );
  if (names.flat().some((name) => isHidden(name) || name.includes('*'))) return undefined;
  const [folder, more] = new Set(names.map((path) => path.slice(0, -1).join('/')));
  if (folder === undefined || more !== undefined) return undefined;
  if (folder !== '') return `${folder}/**`;
  return names.length === 1 ? names[0]?.[0] : undefined;
}

/** Two words where the second says what is done; else the very command. */
function bashRule(command: string): string | undefined {
  if (!isPlainCommand(command)) return undefined;
  const [program = '', verb = '', script = ''] = command.split(' ');
  const runsScript = verb === 'run' && scriptRunners.has(program) && isWord(script);
  if (runsScript) return `Bash(${program} run ${script} *)`;
  const verbs = verbsOf.get(program);
  const isKnown = isWord(verb) && (verbs === anyVerb || verbs?.includes(verb) === true);
  if (isKnown) return `Bash(${program} ${verb} *)`;
  return named(`Bash(${command})`);
}

const isWord = (word: string): boolean => /^[a-z][a-z0-9:_-]*$/.test(word);

/** Of these, `run` runs what the project itself names so. */
const scriptRunners: ReadonlySet<string> = new Set(['composer', 'npm', 'pnpm', 'yarn']);

/**
 * What programs do at their second word. None that runs, fetches or configures whatever follows it: `git config`,
 * `npm install`, `poetry run`, `pnpm sh` are each as good as a shell.
 */
const anyVerb: readonly string[] = [];
const packages = ['audit', 'ci', 'list', 'ls', 'outdated', 'test', 'why'];
const verbsOf: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    brew: ['info', 'list'],
    cargo: ['bench', 'build', 'check', 'clippy', 'doc', 'fmt', 'test', 'tree'],
    composer: ['audit', 'outdated', 'show', 'validate'],
    dotnet: ['build', 'format', 'publish', 'restore', 'test'],
    gh: ['issue', 'pr', 'release', 'run', 'search'],
    git: [
      ...['add', 'blame', 'branch', 'checkout', 'cherry-pick', 'commit', 'diff', 'log', 'merge', 'mv'],
      ...['reset', 'restore', 'revert', 'rm', 'show', 'stash', 'status', 'switch', 'tag', 'worktree'],
    ],
    go: ['build', 'doc', 'fmt', 'list', 'mod', 'test', 'vet'],
    gradle: anyVerb,
    just: anyVerb,
    make: anyVerb,
    mix: ['compile', 'format', 'test'],
    mvn: ['clean', 'compile', 'package', 'test', 'verify'],
    npm: packages,
    pip: ['check', 'freeze', 'list', 'show'],
    pnpm: packages,
    poetry: ['check', 'lock', 'show'],
    rake: anyVerb,
    uv: ['lock', 'sync'],
    yarn: packages,
  }),
);

/**
 * What a tool would do, in the words of permission rules, whatever the engine calls the tool: run a command, change
 * or read files, fetch from a host. A tool that does none of it is known by its name alone.
 */
export type ToolUse =
  | { readonly tool: 'Bash'; readonly command: string }
  /** Absolute paths, of which none leads through `..`; in both ways where a link leads elsewhere. */
  | { readonly tool: 'Edit' | 'Read'; readonly paths: readonly string[] }
  /** A name in lower case, without a port. */
  | { readonly tool: 'WebFetch'; readonly host: string };
