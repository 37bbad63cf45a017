/**
 * What the clerk understands: one instruction per line, in plain English, case does not matter. Quoted lines
 * (`> …`) are news from other sessions; it never obeys them.
 *
 * | instruction | what it does |
 * |---|---|
 * | `digest` | counts the open work and names what needs attention |
 * | `list`, `list blocked`, `list ann`, `list blocked for ann` | lists work items |
 * | `search WORDS` | finds work items by their text |
 * | `add "TITLE" [for NAME] [body: TEXT]` | adds a work item |
 * | `move TRP-1 to STATUS[: NOTE]` | changes a status |
 * | `remind me in N minutes\|hours\|days to TEXT` | adds a work item whose title names the time (it rings no
 * bell: see `follow-instruction.ts`) |
 * | `delegate "TASK" to NAME` | hands a task to an employee or an engine |
 * | `ask approval for TRP-1: TEXT` | requests an approval |
 * | `wait N seconds [then INSTRUCTION]` | stays in the turn, at most 60 seconds |
 * | `count to N [every N seconds]` | slow, visible work, for trying out stops and restarts |
 * | `help` | this list |
 */
export type Instruction =
  | { readonly do: 'digest' }
  | { readonly do: 'list'; readonly status?: string; readonly assignee?: string }
  | { readonly do: 'search'; readonly words: string }
  | { readonly do: 'add'; readonly title: string; readonly assignee?: string; readonly body?: string }
  | { readonly do: 'move'; readonly id: string; readonly status: string; readonly note?: string }
  | { readonly do: 'remind'; readonly minutes: number; readonly text: string }
  | { readonly do: 'delegate'; readonly task: string; readonly to: string }
  | { readonly do: 'ask'; readonly id: string; readonly text: string }
  | { readonly do: 'wait'; readonly seconds: number; readonly then?: Instruction }
  | { readonly do: 'count'; readonly to: number; readonly everySeconds: number }
  | { readonly do: 'help' };

/** Understood, not understood, or understood but out of bounds (with a sentence). */
export type Understood =
  | Instruction
  | { readonly do: 'unknown'; readonly line: string }
  | { readonly do: 'refuse'; readonly sentence: string };

export const helpText = `I understand these instructions, one per line:
  digest                                       open work: counts, and what needs attention
  list [STATUS] [for NAME]                     work items, e.g. "list blocked for ann"
  search WORDS                                 work items by their text
  add "TITLE" [for NAME] [body: TEXT]          a new work item
  move TRP-1 to STATUS[: NOTE]                 a new status, e.g. "move TRP-1 to blocked: no key"
  remind me in N minutes|hours|days to TEXT    a work item with the time in its title (I cannot ring a bell)
  delegate "TASK" to NAME                      to an employee or an engine
  ask approval for TRP-1: TEXT                 a request for approval
  wait N seconds [then INSTRUCTION]            at most 60 seconds
  count to N [every N seconds]                 slow, visible work
  help                                         this list`;

export const statuses: readonly string[] = [
  'backlog',
  'assigned',
  'executing',
  'in_review',
  'blocked',
  'escalated',
  'done',
  'cancelled',
];

const minutesMax = 31 * 24 * 60;
const waitSecondsMax = 60;
const countMax = 600;
const lineMax = 8000;

/** The first line of each piece of news in a prompt. */
export const newsIn = (prompt: string): readonly string[] =>
  [...prompt.matchAll(/^\[notification\]\n> (.*)$/gm)].map(([, line = '']) => line.slice(0, 200));

/**
 * All instructions of a prompt, in order; news, blank lines and list bullets are ignored. A prompt that ends
 * in a line `Your task:` and what follows it (a step of a workflow) is only that: what stands before is told
 * to who has a model.
 */
export const understandAll = (prompt: string): readonly Understood[] =>
  prompt
    .split(/^Your task:$/m)
    .at(-1)!
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('>') && line !== '[notification]')
    .map((line) => line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, '').trim())
    .filter((line) => line !== '')
    .map(understand);

/** `understand('move TRP-1 to done')` → `{do: 'move', id: 'TRP-1', status: 'done'}` */
export function understand(line: string): Understood {
  if (line.length > lineMax)
    return { do: 'refuse', sentence: `An instruction may have at most ${lineMax} characters.` };
  const text = line.replace(/^please\s+/i, '').trim();
  for (const [pattern, read] of patterns) {
    const match = pattern.exec(text);
    const understood = match === null ? undefined : read(match.groups ?? {});
    if (understood !== undefined) return understood;
  }
  return { do: 'unknown', line };
}

type Groups = Readonly<Record<string, string | undefined>>;
type Reader = (groups: Groups) => Understood | undefined;

const quoted = '["“\'](?<quoted>.+?)["”\']';
const patterns: readonly (readonly [RegExp, Reader])[] = [
  [/^help[.!?]?$/i, () => ({ do: 'help' })],
  [/^digest[.!]?$/i, () => ({ do: 'digest' })],
  [/^list(?:\s+(?<rest>.+?))?[.!]?$/i, ({ rest }) => readList(rest ?? '')],
  [/^search\s+(?:for\s+)?(?<words>.+)$/i, ({ words = '' }) => ({ do: 'search', words: unquote(words) })],
  [
    new RegExp(
      `^add\\s+${quoted}(?:\\s+for\\s+(?<assignee>[\\w.-]+))?(?:\\s*,?\\s*body:\\s*(?<body>.+))?$`,
      'is',
    ),
    readAdd,
  ],
  [/^add\s+(?<title>[^"“'].*?)(?:\s+body:\s*(?<body>.+))?$/is, readAdd],
  [
    /^move\s+(?<id>\S+)\s+to\s+(?<status>[\w ]+?)\s*(?::\s*(?<note>.+))?$/i,
    ({ id = '', status = '', note }) => ({
      do: 'move',
      id,
      status: status.trim().toLowerCase().replace(/\s+/g, '_'),
      ...(note === undefined ? {} : { note }),
    }),
  ],
  [
    /^remind\s+me\s+in\s+(?<count>\d+(?:\.\d+)?|an?)\s*(?<unit>minute|hour|day)s?\s+(?:to\s+)?(?<text>.+)$/i,
    readRemind,
  ],
  [
    new RegExp(`^delegate\\s+${quoted}\\s+to\\s+(?<to>[\\w.-]+?)[.!]?$`, 'is'),
    ({ quoted: task = '', to = '' }) => ({ do: 'delegate', task, to }),
  ],
  [
    /^ask\s+(?:for\s+)?(?:an\s+)?approval\s+(?:for|of)\s+(?<id>[^\s:]+)\s*:\s*(?<text>.+)$/i,
    ({ id = '', text = '' }) => ({ do: 'ask', id, text }),
  ],
  [/^wait\s+(?<count>\d+(?:\.\d+)?)\s*(?:s|seconds?)?(?:\s*,?\s*then\s+(?<then>.+))?[.!]?$/i, readWait],
  [/^count\s+to\s+(?<to>\d+)(?:\s+every\s+(?<every>\d+(?:\.\d+)?)\s*(?:s|seconds?)?)?[.!]?$/i, readCount],
];

/** At most one status and one name, in any order, with or without the small words between. */
function readList(rest: string): Understood | undefined {
  const named = rest
    .trim()
    .replace(/\bin review\b/i, 'in_review')
    .split(/\s+/)
    .filter((word) => word !== '' && !smallWords.has(word.toLowerCase()));
  const [status, ...otherStatuses] = named
    .map((word) => word.toLowerCase())
    .filter((word) => statuses.includes(word));
  const [assignee, ...otherNames] = named.filter((word) => !statuses.includes(word.toLowerCase()));
  if (otherStatuses.length > 0 || otherNames.length > 0) return undefined;
  return {
    do: 'list',
    ...(status === undefined ? {} : { status }),
    ...(assignee === undefined ? {} : { assignee }),
  };
}

const smallWords = new Set(['all', 'the', 'for', 'of', 'assigned-to', 'work', 'items', 'todos']);

function readAdd({ quoted: quotedTitle, title = '', assignee, body }: Groups): Understood {
  const name = (quotedTitle ?? title).trim();
  if (name.length > 200) return { do: 'refuse', sentence: 'A title may have at most 200 characters.' };
  return {
    do: 'add',
    title: name,
    ...(assignee === undefined ? {} : { assignee }),
    ...(body === undefined ? {} : { body: body.trim() }),
  };
}

function readRemind({ count = '', unit = '', text = '' }: Groups): Understood {
  const units: Record<string, number> = { minute: 1, hour: 60, day: 24 * 60 };
  const minutes = (/^an?$/i.test(count) ? 1 : Number(count)) * (units[unit.toLowerCase()] ?? 1);
  if (minutes > minutesMax)
    return { do: 'refuse', sentence: 'I take reminders for at most a month (31 days).' };
  return { do: 'remind', minutes, text: text.trim() };
}

function readWait({ count = '', then }: Groups): Understood | undefined {
  const seconds = Number(count);
  if (seconds > waitSecondsMax)
    return {
      do: 'refuse',
      sentence:
        `I wait for at most ${waitSecondsMax} seconds, because I stay in the turn meanwhile. Use a cron ` +
        'job for more.',
    };
  if (then === undefined) return { do: 'wait', seconds };
  const next = understand(then);
  return next.do === 'unknown' || next.do === 'refuse' ? next : { do: 'wait', seconds, then: next };
}

function readCount({ to = '', every }: Groups): Understood {
  const everySeconds = every === undefined ? 1 : Number(every);
  if (Number(to) > countMax || everySeconds > waitSecondsMax)
    return {
      do: 'refuse',
      sentence: `I count to ${countMax} at most, at least once in ${waitSecondsMax} seconds.`,
    };
  return { do: 'count', to: Number(to), everySeconds };
}

const unquote = (text: string): string => text.trim().replace(/^["“'](.*)["”']$/, '$1');
