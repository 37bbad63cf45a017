import { expect } from 'chai';
import { existsSync } from 'node:fs';
import {
  authorityIds,
  callerKinds,
  verdict,
  type CallerKind,
  type Verdict,
} from '../../../lib/gateway/authorization.js';
import { tools } from '../../../lib/mcp/tools.js';
import { root, sourcesOf } from '../../house/sources.js';
import { openOffice, type Office } from '../records/office.js';
import type { Client } from '../gateway/fixture.js';

/**
 * Every route of the running gateway × every caller, read from its own description: what the table refuses is refused
 * there, whichever route asks for it. And every change that an agent may cause has a way in the table of ways, or a
 * rule that is named here; a new route without either fails.
 */
describe('the table of authority: every route', () => {
  let office: Office;
  let routes: readonly Described[];
  let clients: Readonly<Record<CallerKind, Client>>;
  let self: string;
  let item: string;
  before(async () => {
    office = await openOffice();
    const above = await office.agent();
    const own = await office.agent({ parent: above.sessionId });
    self = own.sessionId;
    clients = {
      none: office.client(),
      bad: office.client({ authorization: 'Bearer bad' }),
      operator: office.operator,
      device: await office.browser(),
      self: own,
      above,
      below: await office.agent({ parent: self }),
      outsider: await office.agent(),
    };
    item = (await own.post('/api/work-items', { title: 'x' })).body.workItem.id as string;
    const { paths } = (await office.operator.get('/api/openapi.json')).body;
    routes = Object.entries<Record<string, Operation>>(paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) =>
        operation['x-authority'] === undefined || path.startsWith('/ws')
          ? []
          : [{ method: method.toUpperCase(), path, operation, row: operation['x-authority'].callers }],
      ),
    );
  });
  after(() => office.close());

  const isRefusal = (cell: Verdict | undefined): boolean =>
    cell !== undefined && cell !== 'yes' && cell !== 'policy';
  /** The route as it names a thing that is there. */
  const at = (path: string): string =>
    path
      .replace('{kind}', 'session')
      .replaceAll(/\{\w+\}/g, () => (path.startsWith('/api/work-items/') ? item : self));

  it('refuses what the table refuses', async function () {
    this.timeout(180_000);
    let cells = 0;
    for (const { method, path, row } of routes)
      for (const kind of callerKinds) {
        const cell = row[kind];
        // nothing stands below a work item
        if (!isRefusal(cell) || (kind === 'below' && path.startsWith('/api/work-items/'))) continue;
        const { status, body } = await clients[kind].call(
          method,
          at(path),
          method === 'GET' ? undefined : {},
        );
        expect([status >= 400, body?.code], `${method} ${path} by ${kind}`).to.deep.equal([true, cell]);
        cells += 1;
      }
    expect(cells).to.be.greaterThan(500);
  });

  // The rows drive both the routes and the cells above: one that lets agents in must be meant
  it('is open to agents in these rows, and in no other', () => {
    const open = (...kinds: readonly CallerKind[]): readonly string[] =>
      authorityIds.filter((id) => kinds.every((kind) => !isRefusal(verdict(id, kind)))).map(String);
    expect(open('outsider')).to.have.members(openToAgents.split(/\s+/));
    expect(open('above').filter((id) => !open('outsider').includes(id))).to.have.members(
      openAbove.split(/\s+/),
    );
    expect(open('self').filter((id) => !open('above').includes(id))).to.deep.equal(['session.attach']);
    expect(open('below').filter((id) => !open('outsider').includes(id))).to.deep.equal([]);
  });

  // the lowest agent was told where logins lie, and by which names the gateway holds keys
  it('tells people alone how engines log in', async () => {
    const access = async (kind: CallerKind) =>
      (await clients[kind].get('/api/engines')).body.engines.pen.access;
    expect((await access('operator')).what).to.equal('login in ~/.pen');
    expect(await access('device')).not.to.equal(undefined);
    for (const kind of ['self', 'above', 'below', 'outsider'] as const)
      expect(await access(kind), kind).to.equal(undefined);
  });

  it('begins at the first page of the tree where the cursor is empty, also below an actor', async () => {
    const tree = await clients.operator.get(`/api/inspect/tree?kind=session&id=${self}&limit=10&cursor=`);
    expect(tree.body.actors, 'the session below it').to.have.length.at.least(1);
  });

  it('has a way or a rule for every change that agents may cause', () => {
    const open = routes.filter(
      ({ method, row }) =>
        method !== 'GET' &&
        ['self', 'above', 'below', 'outsider'].some((kind) => !isRefusal(row[kind as CallerKind])),
    );
    const unjudged = open.filter(({ method, path, operation }) => {
      const isPlanned = (operation.parameters ?? []).some(({ name }) => name === 'dryRun');
      const isTool = tools.some(
        (tool) => tool.method === method && tool.path === path.replaceAll(/\{(\w+)\}/g, ':$1'),
      );
      return !isPlanned && !isTool;
    });
    expect(unjudged.map(({ method, path }) => `${method} ${path}`)).to.have.members(Object.keys(rules));
  });
});

describe('the table of authority: every effect', () => {
  it('has a place that judges what it causes, and so has every kind of a step', () => {
    const effects = sourcesOf(['actors']).flatMap(({ path, text }) => {
      const [, members = ''] =
        /\beffects: \{([^}]*)\}/.exec(text.replaceAll(/effects: \{ readonly/g, '')) ?? [];
      const kind = path.split('/')[1] ?? '';
      return path.endsWith('/kind.ts')
        ? [...members.matchAll(/(?:^|,)\s*'?([\w-]+)'?:/g)].map(([, name]) => `${kind}: ${name}`)
        : [];
    });
    expect(effects).to.have.members(Object.keys(judgedEffects));
    const steps = sourcesOf(['machines/graph']).find(({ path }) => path.endsWith('/read-actor.ts'));
    const [, kinds = ''] = /const actorKinds = \[([^\]]*)\]/.exec(steps?.text ?? '') ?? [];
    expect([...kinds.matchAll(/'([\w-]+)'/g)].map(([, kind]) => kind)).to.have.members(
      Object.keys(judgedSteps),
    );
    for (const place of Object.values({ ...judgedEffects, ...judgedSteps }))
      if (place !== acts) expect(existsSync(`${root}spec/${place}`), place).to.equal(true);
  });
});

/** To every agent; what of it each of them sees or may do there, the actors and the lists decide. */
const openToAgents =
  'status.read health.read auth.state auth.logout page.inspect page.pair page.docs console.read openapi.read ' +
  'engines.read engines.limits ws.watch mcp.call session.list session.open session.message search.messages ' +
  'search.sessions search.work-items cost.read work-item.list work-item.create work-item.assign work-item.status ' +
  'work-item.archive work-item.comment work-item.label work-item.link work-item.handoff approval.request ' +
  'approval.decide approval.escalate delegation.create trigger.read trigger.write event.receive hook.receive ' +
  'a2a.card a2a.call ' +
  'cron.read workflow.list workflow.read workflow.plan workflow.write workflow-run.start workflow-run.list ' +
  'workflow-run.steer connector.list connector.send org.read org.board.read skill.list skill.read ' +
  'knowledge.search knowledge.read';
/** Of what is its own or stands below it. */
const openAbove =
  'session.read session.messages session.words session.children session.context session.permissions ' +
  'session.stop changes.read ' +
  'work-item.read work-item.sessions work-item.next inspect.history inspect.why';

/** It causes nothing that another could not: it tells its own actor what the world did. */
const acts = 'for its own actor alone';
/** By kind and effect: the specs that try to widen by it what its cause may do. */
const judgedEffects: Readonly<Record<string, string>> = {
  'connector: connection': 'lib/authority/ways.spec.ts',
  'connector: delivery': 'lib/authority/ways.spec.ts',
  'cron-fire: launch': 'lib/authority/ways.spec.ts',
  'cron-fire: record': acts,
  'held-decision: decide': 'lib/gateway/held-decisions.spec.ts',
  'notifier: message': 'lib/gateway/notifications.spec.ts',
  'pairing-code: device': 'lib/gateway/pairing.spec.ts',
  'pairing: proof': 'lib/gateway/pairing.spec.ts',
  'pairing: clearing': acts,
  'poll: check': 'lib/authority/ways.spec.ts',
  'poll: fire': 'lib/authority/ways.spec.ts',
  'session: engine-turn': 'lib/authority/sessions.spec.ts',
  'workflow: evidence': acts,
  'workflow-run: workflow-step': 'lib/authority/table.spec.ts',
  'workflow-run: workflow-act': 'lib/authority/workflows.spec.ts',
  'workflow-run: workflow-evidence': acts,
};
/** By the kind of a step's actor. */
const judgedSteps: Readonly<Record<string, string>> = {
  employee: 'lib/authority/workflows.spec.ts',
  engine: 'lib/authority/workflows.spec.ts',
  noop: acts,
  'connector-send': 'lib/authority/ways.spec.ts',
  http: 'lib/authority/workflows.spec.ts',
  'work-item': 'lib/authority/table.spec.ts',
  workflow: 'lib/authority/table.spec.ts',
};

interface Operation {
  readonly 'x-authority'?: { readonly callers: Readonly<Record<CallerKind, Verdict>> };
  readonly parameters?: readonly { readonly name: string }[];
}

interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly row: Readonly<Record<CallerKind, Verdict>>;
}

/** Changes without a rehearsal and without a tool, and why no other way leads to them. */
const rules: Readonly<Record<string, string>> = {
  'POST /api/workflow-events':
    'who holds a secret of a binding fires it, no more: by an event, in table.spec.ts',
  'POST /api/auth/logout': 'ends the credential of the caller itself',
  'POST /a2a/{name}':
    'who holds the credential of an employee gives it tasks, no more: lib/gateway/a2a/a2a.spec.ts',
  'POST /mcp': 'each tool is a route: as a tool, in table.spec.ts',
};
