import type { Command } from 'commander';
import {
  decisionRequest,
  deliveryIdOf,
  refusalIn,
  wordsOf,
  type DecisionWords,
  type WaitingThing,
} from '../client/decision.js';
import type { Answer } from '../client/requests.js';
import { connect, type Client } from './client.js';
import { hint, homeOf, wholeNumber, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import type { Layout } from '../home/layout.js';
import { ago, duration, plainText, table } from './print.js';

export type WaitingItem = WaitingThing;

/** `troupe waiting`: what cannot go on without a word of someone, longest first. */
export function waitingCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('waiting').description('list what waits for a decision, longest first'))
    .option('--json', 'answer as JSON')
    .action(async (options: HomeOptions & { readonly json?: boolean }) => {
      const layout = homeOf(options, terminal);
      const items = await allWaiting(await connect(layout));
      const now = Date.now();
      const shortId = shortIds(items);
      if (options.json === true) return terminal.out(JSON.stringify(items));
      terminal.out(
        table(
          ['ID', 'WHAT', 'WAITS FOR', 'SINCE', 'ENDS IN', 'TITLE'],
          items.map((item) => [
            shortId(item),
            item.what,
            item.on === 'operator' ? 'you' : item.on,
            ago(Date.parse(item.since), now),
            item.until === null ? '-' : duration(Date.parse(item.until) - now),
            item.title,
          ]),
          'Nothing waits for a decision.',
        ),
      );
      if (items.some(({ what }) => what === 'version'))
        terminal.say(`Read a version before you approve it: ${hint(layout, 'workflow show', '<id>')}`);
      if (items.some(({ what }) => /delivery$/.test(what)))
        terminal.say(
          `A message: ${hint(layout, 'resend', '<id>')}; it arrived: ${hint(layout, 'approve', '<id>')}; ` +
            `give it up: ${hint(layout, 'reject', '<id>')}`,
        );
      if (items.length > 0)
        terminal.say(`Decide: ${hint(layout, 'allow|deny|approve|reject', '<id> [--note "…"]')}`);
    });
}

/** `allow` and `deny` for tools, `resend` for messages, `approve` and `reject` for everything else that waits. */
export function decideCommands(program: Command, terminal: Terminal): void {
  decideCommand('allow', 'let an agent use the tool that it asked for');
  decideCommand('deny', 'refuse the tool that an agent asked for');
  decideCommand(
    'approve',
    'approve what waits: an approval, a gate, a polling program, a version of a workflow',
  );
  decideCommand(
    'reject',
    'reject what waits: an approval, a gate, a polling program, a version of a workflow',
  );

  decideCommand('resend', 'send a message again that did not arrive, or may not have');

  function decideCommand(verb: Verb, about: string): void {
    const command = withHome(program.command(verb).description(about))
      .argument('<id>', 'as "troupe waiting" shows it')
      .option('--note <text>', 'why');
    if (verb === 'allow')
      command.option(
        '--always [rule]',
        'and do not ask again in this session for what its rule fits, or that one: "Bash(git *)"',
      );
    if (verb === 'approve')
      command.option('--usd <dollars>', 'how much more a budget grants this month', wholeNumber(1, 100_000));
    command.action(async (typed: string, options: HomeOptions & DecisionWords) => {
      const layout = homeOf(options, terminal);
      const client = await connect(layout);
      const item = named(typed, await allWaiting(client), layout);
      await decide(client, item, verb, options, layout);
      terminal.out(`${wordsOf(item, verbs[verb])[1]}: ${plainText(item.title)}`); // an agent wrote it
    });
  }
}

export type Verb = keyof typeof verbs;
const verbs = {
  allow: 'approve',
  approve: 'approve',
  deny: 'reject',
  reject: 'reject',
  resend: 'again',
} as const;

/** Sends the decision to whatever the item is; a refusal of the gateway is thrown in its own words. */
export async function decide(
  client: Client,
  item: Pick<WaitingItem, 'what' | 'id' | 'waitingId' | 'within'>,
  verb: Verb,
  words: DecisionWords,
  layout: Layout,
): Promise<void> {
  const request = decisionRequest(item, verbs[verb], words);
  if (request === undefined) throw unfit(insteadOf(item, verb, layout));
  const refused = refusalIn(await client.send(request.path, request.body));
  if (refused !== undefined) throw unfit(refused);
}

/** Of what is ended in another way: how. */
function insteadOf({ what, id }: Pick<WaitingItem, 'what' | 'id'>, verb: Verb, layout: Layout): string {
  if (what === 'resume') return `It was interrupted, and waits. Go on with: ${hint(layout, 'resume', id)}`;
  if (what === 'backup')
    return `It goes once a backup succeeds. Fix what it says, then try at once: ${hint(layout, 'backup')}`;
  if (what === 'worker')
    return `It goes once that worker takes the turns that wait for it: ${hint(layout, 'workers')}`;
  if (what === 'silent')
    return `It goes on by itself once something comes. End its turn: ${hint(layout, 'stop', id)}`;
  if (what === 'budget' && verbs[verb] === 'approve')
    return `Turns of ${id} are held. Grant dollars for this month: ${hint(layout, 'approve', `${id} --usd 10`)}`;
  if (what === 'delivery' && verbs[verb] === 'approve')
    return `It did not arrive. Send it again: ${hint(layout, 'resend', '<id>')}`;
  return what === 'budget'
    ? `Turns of ${id} are held until the month ends or the budget is raised.`
    : `It waits for something else (${what}) and cannot be approved or rejected.`;
}

const unfit = (message: string): CommandError => new CommandError(exitCodes.usage, message);

/** Everything that waits, page by page. */
export async function allWaiting(client: Client): Promise<readonly WaitingItem[]> {
  const items: WaitingItem[] = [];
  for (let cursor: string | null = ''; cursor !== null && items.length < itemsMax;) {
    const page: Answer<'/api/attention', 'get'> = await client.get('/api/attention', {
      params: { query: { limit: '500', ...(cursor === '' ? {} : { cursor }) } },
    });
    items.push(...page.waiting);
    cursor = page.nextCursor;
  }
  return items;
}

const itemsMax = 10_000;

/** Tells of the id of a session, a work item or another thing whether a person's word is waited for there. */
export async function waitsForYou(client: Client): Promise<(id: string) => boolean> {
  const ids = new Set((await allWaiting(client)).filter(({ on }) => on === 'operator').map(({ id }) => id));
  return (id) => ids.has(id);
}

/**
 * As short as a person would type it, and still of one item alone: the actor's id, cut where that is enough;
 * where the actor waits for several things, `:` and the end of the thing's own id.
 */
function shortIds(items: readonly WaitingItem[]): (item: WaitingItem) => string {
  const counts = new Map<string, number>();
  for (const { id } of items) counts.set(id, (counts.get(id) ?? 0) + 1);
  const sorted = [...counts.keys()].sort();
  const places = new Map(sorted.map((id, n) => [id, n]));
  return ({ id, waitingId }) => {
    const n = places.get(id) ?? 0;
    // Who shares most of its beginning stands beside it
    const shared = Math.max(sharedStart(id, sorted[n - 1]), sharedStart(id, sorted[n + 1]));
    const isUuid = /^[0-9a-f]{8}-/.test(id);
    const actor = isUuid ? id.slice(0, Math.max(8, shared + 1)) : id;
    return counts.get(id) === 1 ? actor : `${actor}:${lastPart(waitingId)}`;
  };
}

function sharedStart(id: string, other = ''): number {
  let length = 0;
  while (length < id.length && id[length] === other[length]) length += 1;
  return length;
}

/** What is enough of the id of a thing, where its actor is named. */
export const lastPart = (waitingId: string): string => waitingId.slice(waitingId.lastIndexOf(':') + 1);

function named(typed: string, items: readonly WaitingItem[], layout: Layout): WaitingItem {
  const [, actor = typed, thing] = /^([^:]*):(.*)$/.exec(typed) ?? [];
  const fits = (item: WaitingItem): boolean =>
    thing === undefined ||
    [item.waitingId, lastPart(item.waitingId), deliveryIdOf(item.waitingId)].includes(thing);
  const whole = items.filter((item) => item.id === actor && fits(item));
  const found = whole.length > 0 ? whole : items.filter((item) => item.id.startsWith(actor) && fits(item));
  const [one, ...more] = found;
  if (one === undefined)
    throw unfit(
      `Nothing that waits is called "${typed}": it was decided, withdrawn, or has ended. ` +
        `${hint(layout, 'waiting')} lists what waits.`,
    );
  if (more.length > 0)
    throw unfit(`"${typed}" means ${found.length} things: ${found.map(shortIds(items)).join(', ')}.`);
  return one;
}
