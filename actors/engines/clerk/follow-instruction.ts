import { Refused, type Body, type GatewayClient } from './gateway-client.js';
import { helpText, type Instruction } from './instructions.js';

/** What the clerk has to work with. */
export interface Office {
  readonly gateway: GatewayClient;
  /** Say one line, at once. */
  readonly say: (line: string) => void;
  readonly now: () => Date;
  readonly wait: (seconds: number) => Promise<void>;
}

/** Do one instruction and say what was done. Rejects with `Refused` when the gateway said no. */
export function followInstruction(instruction: Instruction, office: Office): Promise<void> {
  switch (instruction.do) {
    case 'help':
      return Promise.resolve(office.say(helpText));
    case 'digest':
      return digest(office);
    case 'list':
      return list(instruction, office);
    case 'search':
      return search(instruction, office);
    case 'add':
      return add(instruction, office);
    case 'move':
      return move(instruction, office);
    case 'remind':
      return remind(instruction, office);
    case 'delegate':
      return delegate(instruction, office);
    case 'ask':
      return ask(instruction, office);
    case 'wait':
      return wait(instruction, office);
    case 'count':
      return count(instruction, office);
  }
}

type Of<Do extends Instruction['do']> = Extract<Instruction, { readonly do: Do }>;

const pageSize = '20';
const openStatuses = ['backlog', 'assigned', 'executing', 'in_review', 'blocked', 'escalated'];
const attentionStatuses = ['escalated', 'blocked', 'in_review'];

async function digest({ gateway, say }: Office): Promise<void> {
  const all = await gateway.get('/api/work-items', { limit: '1' });
  const totals = asBody(all['totals']);
  const open = openStatuses.map((status) => [status, Number(totals[status] ?? 0)] as const);
  const sum = open.reduce((total, [, number]) => total + number, 0);
  const parts = open
    .filter(([, number]) => number > 0)
    .map(([status, number]) => `${number} ${words(status)}`);
  say(sum === 0 ? 'No open work that I may see.' : `Open work that I may see: ${sum} (${parts.join(', ')}).`);
  for (const status of attentionStatuses.filter((name) => Number(totals[name] ?? 0) > 0)) {
    const page = await gateway.get('/api/work-items', { status, limit: '10' });
    say(`${capital(words(status))}:`);
    sayItems(page, say);
  }
}

async function list({ status, assignee }: Of<'list'>, { gateway, say }: Office): Promise<void> {
  const page = await gateway.get('/api/work-items', { status, assignee, limit: pageSize });
  const which = [
    status === undefined ? 'work items' : `${words(status)} work items`,
    ...(assignee === undefined ? [] : [`for ${assignee}`]),
  ].join(' ');
  if (itemsOf(page).length === 0) return say(`No ${which} that I may see.`);
  say(`${capital(which)}:`);
  sayItems(page, say);
}

async function search({ words: wanted }: Of<'search'>, { gateway, say }: Office): Promise<void> {
  const page = await gateway.get('/api/work-items', { q: wanted, limit: pageSize });
  if (itemsOf(page).length === 0) return say(`Nothing that I may see holds "${wanted}".`);
  say(`Found for "${wanted}":`);
  sayItems(page, say);
}

async function add({ title, assignee, body }: Of<'add'>, { gateway, say }: Office): Promise<void> {
  const { workItem } = await gateway.post('/api/work-items', { title, assignee, body });
  const item = asBody(workItem);
  say(
    `Added ${text(item['id'])}: ${text(item['title'] ?? title)}${assignee === undefined ? '' : `, for ${assignee}`}.`,
  );
}

async function move({ id, status, note }: Of<'move'>, { gateway, say }: Office): Promise<void> {
  const answer = await gateway.post(`/api/work-items/${encodeURIComponent(id)}/status`, { status, note });
  say(
    `${id} is ${words(text(asBody(answer['workItem'])['status'] ?? status))} now.` +
      `${answer['escalated'] === true ? ' It was sent back too often and went to a person.' : ''}`,
  );
}

/**
 * The clerk's process ends with its turn and cannot ring later, and it does not pretend to: the reminder is a
 * work item whose title begins with the time, where lists and digests show it.
 */
async function remind({ minutes, text: what }: Of<'remind'>, { gateway, say, now }: Office): Promise<void> {
  const due = new Date(now().getTime() + minutes * 60_000).toISOString().slice(0, 16).replace('T', ' ');
  const { workItem } = await gateway.post('/api/work-items', {
    title: `${due} UTC: ${what}`.slice(0, 200),
    body: `A reminder, due ${due} UTC.\n\n${what}`,
  });
  say(
    `Added ${text(asBody(workItem)['id'])}, due ${due} UTC: ${what}. I cannot ring a bell then; a cron ` +
      'job with "digest" brings it up.',
  );
}

/**
 * A name of the roster is an employee; anything else must be an engine, and the gateway says so when it is
 * neither.
 */
async function delegate({ task, to }: Of<'delegate'>, { gateway, say }: Office): Promise<void> {
  const { employees } = await gateway.get('/api/org').catch((error: unknown): Body => {
    // A gateway without a roster has no employees
    if (error instanceof Refused && error.status === 404) return {};
    throw error;
  });
  const isEmployee =
    Array.isArray(employees) && employees.some((employee) => asBody(employee)['name'] === to);
  const answer = await gateway.post('/api/delegations', {
    task,
    ...(isEmployee ? { employee: to } : { engine: to }),
  });
  say(
    `Delegated to ${isEmployee ? '' : 'engine '}${to}: ${text(answer['workItemId'])}, session ` +
      `${text(answer['sessionId'])}, ${text(answer['status'])}.`,
  );
}

async function ask({ id, text: request }: Of<'ask'>, { gateway, say }: Office): Promise<void> {
  const { workItem } = await gateway.post(`/api/work-items/${encodeURIComponent(id)}/approval/request`, {
    request,
  });
  const target = asBody(workItem)['approvalTarget'];
  say(
    `Asked ${typeof target === 'string' && target !== '' ? target : 'for'} ` +
      `${typeof target === 'string' && target !== '' ? 'to approve' : 'approval of'} ${id}: ${request}`,
  );
}

async function wait({ seconds, then }: Of<'wait'>, office: Office): Promise<void> {
  office.say(`Waiting ${seconds} seconds.`);
  await office.wait(seconds);
  office.say('Waited.');
  if (then !== undefined) await followInstruction(then, office);
}

async function count({ to, everySeconds }: Of<'count'>, { say, wait: pause }: Office): Promise<void> {
  for (let number = 1; number <= to; number += 1) {
    say(String(number));
    if (number < to) await pause(everySeconds);
  }
  say('Counted.');
}

function sayItems(page: Body, say: (line: string) => void): void {
  const items = itemsOf(page);
  for (const item of items) {
    const whose = typeof item['assignee'] === 'string' ? `, ${item['assignee']}` : '';
    const approval = item['approvalState'] === 'pending' ? ', approval pending' : '';
    say(`- ${text(item['id'])} ${text(item['title'])} (${words(text(item['status']))}${whose}${approval})`);
  }
  const more = Number(page['total'] ?? items.length) - items.length;
  if (more > 0) say(`  … and ${more} more`);
}

const itemsOf = (page: Body): readonly Body[] =>
  Array.isArray(page['workItems']) ? page['workItems'].map(asBody) : [];
const asBody = (value: unknown): Body => (typeof value === 'object' && value !== null ? (value as Body) : {});
const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '?';
const words = (status: string): string => status.replaceAll('_', ' ');
const capital = (sentence: string): string => sentence.charAt(0).toUpperCase() + sentence.slice(1);
