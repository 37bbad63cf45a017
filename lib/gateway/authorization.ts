import type { Relation } from '../commands/relation.js';
import type { RefusalCode } from '../../machines/refusals.js';

/**
 * Who may use which route: the one table. It drives the routes, the OpenAPI document and the specs.
 *
 * Columns are kinds of callers. The last four are agents, by what they are to the thing that the path names
 * (see `Relation`); where the path names nothing they are all the same. `yes`: allowed. `policy`: let through
 * to the actor, whose kind decides with more knowledge (owner, manager, root, state). Anything else is the
 * code of the refusal.
 */
export type CallerKind = 'none' | 'bad' | 'operator' | 'device' | Relation;
export type Verdict = 'yes' | 'policy' | RefusalCode;

export const callerKinds: readonly CallerKind[] = [
  'none',
  'bad',
  'operator',
  'device',
  'self',
  'above',
  'below',
  'outsider',
];

type Row = readonly [
  none: Verdict,
  bad: Verdict,
  operator: Verdict,
  device: Verdict,
  self: Verdict,
  above: Verdict,
  below: Verdict,
  outsider: Verdict,
];

const who = 'UNAUTHENTICATED';
const no = 'FORBIDDEN';
const person = 'PERSON_REQUIRED';

const everybody: Row = ['yes', 'yes', 'yes', 'yes', 'yes', 'yes', 'yes', 'yes'];
const anyCaller: Row = [who, who, 'yes', 'yes', 'yes', 'yes', 'yes', 'yes'];
/** What cannot be taken back, and reaches all that this home holds. */
const operatorAlone: Row = [who, who, 'yes', no, no, no, no, no];
const people: Row = [who, who, 'yes', 'yes', no, no, no, no];
/** What an agent asked for or made: it is told that a person decides. */
const personDecides: Row = [who, who, 'yes', 'yes', person, person, person, person];
/** Reading a thing: agents read themselves, what is beneath them, and their own work. */
const readers: Row = [who, who, 'yes', 'yes', 'yes', 'yes', no, no];
/**
 * The route looks at the proof that comes with the request; a bearer is no browser, and an agent mints
 * nothing wider than itself.
 */
const provers: Row = ['policy', no, no, 'policy', no, no, no, no];
const newcomers: Row = ['policy', who, 'policy', 'policy', no, no, no, no];
const byPolicy: Row = [who, who, 'policy', 'policy', 'policy', 'policy', 'policy', 'policy'];

const table = {
  'status.read': everybody,
  'health.read': everybody,
  'auth.state': everybody,
  'page.inspect': everybody, // a shell without data
  'page.pair': everybody,
  'page.docs': everybody, // the same text for every caller, nothing of this instance
  'auth.challenge': newcomers,
  'auth.code': provers,
  'auth.grant': provers,
  'auth.pair': newcomers,
  'auth.bootstrap': newcomers,
  'auth.devices': people,
  'auth.revoke': people,
  'auth.logout': everybody,
  'metrics.read': people,
  'attention.read': people,
  'decision.hold': people,
  'config.read': people,
  'config.edit': people,
  'logs.read': people,
  'console.read': anyCaller,
  'openapi.read': anyCaller,
  'engines.read': anyCaller,
  'engines.limits': anyCaller,
  'engines.refresh': people,
  'workers.read': people,
  'workers.manage': people,
  'workers.join': newcomers,
  'ws.watch': anyCaller,
  'mcp.call': anyCaller,

  'trust.read': people,
  'trust.decide': people,

  'session.list': anyCaller,
  'session.open': anyCaller,
  'session.read': readers,
  'session.messages': readers,
  'session.words': readers,
  'session.children': readers,
  'session.context': readers,
  'session.permissions': readers,
  'session.permit': personDecides,
  'session.manage': people,
  'changes.read': readers,
  'changes.decide': personDecides,
  'search.messages': anyCaller,
  'search.sessions': anyCaller,
  'search.work-items': anyCaller,
  'cost.read': anyCaller,
  'session.message': [who, who, 'yes', 'yes', 'SELF_MESSAGE', 'yes', 'yes', 'yes'],
  'session.stop': [who, who, 'yes', 'yes', 'NOT_DESCENDANT', 'yes', 'NOT_DESCENDANT', 'NOT_DESCENDANT'],

  'work-item.list': anyCaller,
  'work-item.create': anyCaller,
  'work-item.read': readers,
  'work-item.sessions': readers,
  'work-item.next': readers,
  'work-item.assign': byPolicy,
  'work-item.status': byPolicy,
  'work-item.set-status': people,
  'work-item.archive': byPolicy,
  'work-item.edit': people,
  'work-item.comment': byPolicy,
  'work-item.label': byPolicy,
  'work-item.link': byPolicy,
  'work-item.handoff': byPolicy,
  'approval.request': byPolicy,
  'approval.decide': byPolicy,
  'approval.escalate': byPolicy,
  'delegation.create': anyCaller,

  'inspect.watch': people,
  'inspect.link': people,
  'inspect.list': people,
  'inspect.actor': people,
  'inspect.history': readers,
  'inspect.why': readers,
  'inspect.resume': people,
  'inspect.send': people,
  'inspect.causes': people,
  'inspect.bundle': people,
  'inspect.dead-letters': people,
  'inspect.retry': people,
  'inspect.dismiss': people,
  'backup.create': people,
  'contents.erase': operatorAlone,
  'retention.read': people,
  'retention.decide': people,

  'trigger.read': anyCaller,
  'trigger.write': byPolicy,
  'trigger.activate': people,
  'event.receive': everybody,
  'hook.receive': everybody, // with a secret of its own
  'a2a.read': people,
  'a2a.manage': people,
  'a2a.card': everybody, // of one whom people offer, and nothing but that
  'a2a.call': everybody, // with a credential of its own

  'cron.read': anyCaller,
  'cron.edit': people,
  'workflow.list': anyCaller,
  'workflow.read': anyCaller,
  'workflow.plan': anyCaller,
  'workflow.write': byPolicy,
  'workflow.approvals': people,
  'workflow.approve': people,
  'workflow-run.start': byPolicy,
  'workflow-run.list': anyCaller,
  'workflow-run.steer': byPolicy,

  'connector.list': anyCaller,
  'connector.send': byPolicy,
  'connector.reload': people,
  'connector.deliveries': people,
  'connector.settle': people,

  'org.read': anyCaller,
  'org.edit': people,
  'bundle.read': people,
  'bundle.import': people,
  'budget.read': people,
  'budget.grant': people,
  'org.board.read': anyCaller,
  'org.board.write': people,
  'file.list': people,
  'file.read': people,
  'file.create': people,
  'file.delete': people,
  'file.open': people,
  'skill.list': anyCaller,
  'skill.read': anyCaller,
  'skill.edit': people,
  'knowledge.search': anyCaller,
  'knowledge.read': anyCaller,
  'session.attach': [who, who, 'yes', 'yes', 'yes', no, no, no],
} as const satisfies Record<string, Row>;

/** A row of the authority table: which callers a route is open to. */
export type AuthorityId = keyof typeof table;

/** `verdict('session.stop', 'outsider')` → `'NOT_DESCENDANT'` */
export const verdict = (id: AuthorityId, kind: CallerKind): Verdict =>
  (table[id] as Row)[callerKinds.indexOf(kind)] ?? no;

/** A row by the kinds of callers: looked up once for a route, not at each of its requests. */
export const verdictsOf = (id: AuthorityId): Readonly<Record<CallerKind, Verdict>> =>
  Object.fromEntries(callerKinds.map((kind) => [kind, verdict(id, kind)])) as Record<CallerKind, Verdict>;

/**
 * True when agents are treated alike whatever they are to the target: then nothing need be read to judge
 * them.
 */
export const ignoresRelation = (id: AuthorityId): boolean => new Set((table[id] as Row).slice(4)).size === 1;

/** True when it may be asked without any credential; with `policy` the route itself asks for a proof. */
export const isOpen = (id: AuthorityId): boolean => ['yes', 'policy'].includes(verdict(id, 'none'));

/** The codes that the table can answer with, for the documentation of a route. */
export const refusalsOf = (id: AuthorityId): RefusalCode[] =>
  [...new Set(table[id] as Row)].filter((cell): cell is RefusalCode => cell !== 'yes' && cell !== 'policy');

export const authorityIds = Object.keys(table) as AuthorityId[];
