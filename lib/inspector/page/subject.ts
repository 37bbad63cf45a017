import { actorPath, ask } from '../../page/ask.js';
import type { ActorDetail, Work } from '../answers.js';
import type { Decidable } from './deciding.js';
import { whatHelps } from './problems.js';

/** What a decision is about: what exactly is asked, and what one has to know before the button is pressed. */
export interface Subject {
  readonly text: string;
  /** A command or a program, as it would run. */
  readonly isCode?: boolean;
  /** `['in', '/home/ann/site']`, in the order of their weight. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** Of what tries again by itself: when. */
  readonly nextTry?: number | null;
}

/** Read where it is shown: `await readSubject(waiting, signal)`. Throws a `Refused`. */
export async function readSubject(thing: Decidable, signal: AbortSignal): Promise<Subject> {
  const reader = readers[thing.what];
  return reader === undefined ? { text: '', facts: [] } : reader(thing, reading(signal));
}

type Read = <Body>(path: string) => Promise<Body>;
const reading =
  (signal: AbortSignal): Read =>
  (path) =>
    ask(path, { signal });

const readers: Readonly<Record<string, (thing: Decidable, read: Read) => Promise<Subject>>> = {
  permission: ofPermission,
  approval: ofApproval,
  gate: ofGate,
  version: ofVersion,
  activation: ofActivation,
  budget: ofBudget,
  silent: ofTurn,
  resume: ofTurn,
  trust: ({ within = '' }) =>
    Promise.resolve({
      text: 'Settings of the project there run commands and give rights to its agents.',
      facts: [['in', within]],
    }),
  connector: ofLink,
  notification: ofLink,
};

async function ofPermission({ id, waitingId }: Decidable, read: Read): Promise<Subject> {
  const [permissions, session] = await Promise.all([
    read<readonly Permission[]>(`/api/sessions/${encodeURIComponent(id)}/permissions`),
    sessionOf(id, read),
  ]);
  const permission = permissions.find((one) => one.id === waitingId);
  const input = inputOf(permission?.input ?? '');
  const folder = input.folder ?? session.cwd;
  return {
    text: input.text,
    isCode: true,
    facts: [
      ['tool', permission?.tool ?? ''],
      ...(folder === null ? [] : [['in', folder] as const]),
      ...whose(session),
    ],
  };
}

/** What a tool was given: of a shell the command alone, else all of it. */
function inputOf(input: string): { readonly text: string; readonly folder?: string } {
  try {
    const {
      command,
      cwd,
      description: _description,
      ...rest
    } = JSON.parse(input) as Readonly<Record<string, unknown>>;
    if (typeof command === 'string' && Object.keys(rest).length === 0)
      return { text: command, ...(typeof cwd === 'string' && { folder: cwd }) };
  } catch {
    // no object: it is shown as it is
  }
  return { text: input };
}

async function ofApproval({ id }: Decidable, read: Read): Promise<Subject> {
  const path = `/api/work-items/${encodeURIComponent(id)}`;
  const [{ workItem }, { attempts }] = await Promise.all([
    read<{ readonly workItem: WorkItem }>(path),
    read<{ readonly attempts: readonly Attempt[] }>(`${path}/attempts`),
  ]);
  const files = attempts.flatMap(({ changedFiles }) => changedFiles ?? []);
  const usd = attempts.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  return {
    text: workItem.approvalRequest ?? '',
    facts: [
      ['work item', `${id} ${workItem.title}`],
      ['until then it stays', workItem.status.replaceAll('_', ' ')],
      ...(workItem.assignee === null ? [] : [['assigned to', workItem.assignee] as const]),
      ...(files.length === 0 ? [] : [['changed', [...new Set(files)].slice(0, 10).join(', ')] as const]),
      ['cost so far', dollars(usd)],
    ],
  };
}

async function ofGate({ id, within = '' }: Decidable, read: Read): Promise<Subject> {
  const { title, parked, definitionSnapshot } = await read<Run>(
    `/api/workflow-definitions/${encodeURIComponent(within)}/runs/${encodeURIComponent(id)}`,
  );
  const { nodes = [], edges = [] } = definitionSnapshot ?? {};
  const next = edges.filter(({ from }) => from === parked?.nodeId).map(({ to }) => to);
  const then = nodes.filter((node) => next.includes(node.id)).map(({ label }) => label);
  return {
    text: parked?.description ?? '',
    facts: [
      ['run', title],
      ['approved, it goes on with', then.length === 0 ? 'nothing: the run ends' : then.join(', ')],
    ],
  };
}

async function ofVersion({ id, waitingId }: Decidable, read: Read): Promise<Subject> {
  const [{ nodes = [] }, { pending }] = await Promise.all([
    read<{ readonly nodes?: readonly Step[] }>(
      `/api/workflow-definitions/${encodeURIComponent(id)}?version=${encodeURIComponent(waitingId)}`,
    ),
    read<{ readonly pending: readonly Version[] }>('/api/workflow-approvals'),
  ]);
  const waits = pending.find((one) => one.workflowId === id && one.version === Number(waitingId));
  return {
    text: nodes
      .filter(({ type }) => type !== 'trigger')
      .map(({ label, position: _position, ...rest }) => `${label ?? rest.id}: ${JSON.stringify(rest)}`)
      .join('\n'),
    isCode: true,
    facts: [
      ['written by', waits?.writtenBy ?? 'an agent'],
      ['waits because', waits?.reasons.join('; ') ?? ''],
      ['approving it', 'lends your rights to exactly these steps'],
    ],
  };
}

async function ofActivation({ id }: Decidable, read: Read): Promise<Subject> {
  const { triggers } = await read<{ readonly triggers: readonly Trigger[] }>('/api/workflow-triggers');
  const trigger = triggers.find(({ name }) => name === id);
  const contract = trigger?.activationContract;
  return {
    text: contract?.command.map((word) => JSON.stringify(word)).join(' ') ?? '',
    isCode: true,
    facts: [
      ['runs every', `${contract?.intervalSeconds ?? 0} s, once it is approved`],
      ['starts', trigger?.targetWorkflowId ?? ''],
    ],
  };
}

async function ofBudget({ id }: Decidable, read: Read): Promise<Subject> {
  const { budgets } = await read<{ readonly budgets: readonly Budget[] }>('/api/org/budgets');
  const { limitUsd = null, spentUsd = 0 } = budgets.find(({ employee }) => employee === id) ?? {};
  return {
    text: `Every turn of ${id} is held until the month ends or a person grants more.`,
    facts: [
      ['spent this month', dollars(spentUsd)],
      ['limit', limitUsd === null ? 'none' : dollars(limitUsd)],
    ],
  };
}

async function ofTurn({ id }: Decidable, read: Read): Promise<Subject> {
  const [session, work] = await Promise.all([
    sessionOf(id, read),
    read<Work>(actorPath({ kind: 'session', id }, '/work')),
  ]);
  return {
    text:
      session.lastError ?? work.said?.text.trim().split('\n').at(-1) ?? 'Nothing has come from its agent.',
    facts: [...(session.cwd === null ? [] : [['in', session.cwd] as const]), ...whose(session)],
  };
}

async function ofLink({ kind, id }: Decidable, read: Read): Promise<Subject> {
  const { view, due } = await read<ActorDetail>(actorPath({ kind, id }));
  const { detail, reason, lastError } = view as Readonly<Record<string, unknown>>;
  const said = [detail, reason, lastError].find((one) => typeof one === 'string' && one !== '');
  return {
    text: typeof said === 'string' ? said : '',
    facts: [['what helps', whatHelps]],
    nextTry: due,
  };
}

const sessionOf = (id: string, read: Read): Promise<Session> =>
  read<Session>(`/api/sessions/${encodeURIComponent(id)}?messages=0`);

const whose = ({ employee, engine, totalCost }: Session): Subject['facts'] => [
  ['by', employee ?? engine],
  ['cost so far', dollars(totalCost)],
];

const dollars = (usd: number): string => `$${usd.toFixed(2)}`;

interface Permission {
  readonly id: string;
  readonly tool: string;
  readonly input?: string;
}
interface Session {
  readonly cwd: string | null;
  readonly employee: string | null;
  readonly engine: string;
  readonly totalCost: number;
  readonly lastError: string | null;
}
interface WorkItem {
  readonly title: string;
  readonly status: string;
  readonly assignee: string | null;
  readonly approvalRequest?: string | null;
}
interface Attempt {
  readonly changedFiles?: readonly string[] | null;
  readonly costUsd?: number | null;
}
interface Run {
  readonly title: string;
  readonly parked: { readonly nodeId: string; readonly description: string } | null;
  readonly definitionSnapshot: {
    readonly nodes: readonly { readonly id: string; readonly label: string }[];
    readonly edges: readonly { readonly from: string; readonly to: string }[];
  } | null;
}
interface Step {
  readonly id: string;
  readonly type: string;
  readonly label?: string;
  readonly position?: unknown;
  readonly [member: string]: unknown;
}
interface Version {
  readonly workflowId: string;
  readonly version: number;
  readonly writtenBy?: string;
  readonly reasons: readonly string[];
}
interface Trigger {
  readonly name: string;
  readonly targetWorkflowId: string;
  readonly activationContract?: { readonly command: readonly string[]; readonly intervalSeconds: number };
}
interface Budget {
  readonly employee: string;
  readonly limitUsd: number | null;
  readonly spentUsd: number;
}
