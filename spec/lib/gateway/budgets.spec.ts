import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, isRefusal } from '../../../lib/client/index.js';
import { defineEngine } from '../../../actors/engines/engine.js';
import { fileKind } from '../../../actors/file/kind.js';
import { homeKind } from '../../../actors/home/kind.js';
import { createAgents, type AgentsOptions } from '../../../lib/agents.js';
import { budgetPortOf } from '../../../lib/commands/budgets.js';
import { createGateway } from '../../../lib/gateway/server.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { openRecords } from '../../../lib/records/records.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { systemEnvironment } from '../../../lib/environment.js';
import { makeClient, operatorToken, poll, watch, type Client } from './fixture.js';

/** An engine whose every turn costs 60 cents, and an employee with a dollar. */
async function openShop(enforce: boolean) {
  const layout = layoutOf({ home: await mkdtemp(join(tmpdir(), 'budget-')) });
  await mkdir(join(layout.org, 'build'), { recursive: true });
  await writeFile(join(layout.org, 'build', 'ann.yaml'), 'rank: employee\nmonthlyBudgetUsd: 1\n');
  await writeFile(join(layout.org, 'build', 'bob.yaml'), 'rank: employee\n');
  const environment = systemEnvironment();
  const records = await openRecords({ layout, environment, root: null });
  const model = { id: 'fine', label: 'Fine', supportsEffort: false, effortLevels: [] };
  const meter = defineEngine({
    name: 'meter',
    effortMechanism: 'none',
    discover: async () => ({ available: true, defaultModel: 'fine', models: [model] }),
    turn: async () => ({
      outcome: 'succeeded',
      text: 'done',
      usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.6 },
    }),
  });
  const roster = () => records.roster.value;
  const account: AgentsOptions['budget'] = ({ supervisor }) =>
    budgetPortOf(supervisor, { roster, enforce: () => enforce });
  const { kinds, registry, tokens } = createAgents({
    engines: [meter],
    workFolder: layout.work,
    budget: account,
  });
  const supervisor = await createSupervisor({
    kinds: [...kinds, homeKind(), fileKind()],
    store: memoryStore(),
    environment,
    facts: { roster: records.roster.value },
  });
  await records.connect(supervisor);
  const gateway = await createGateway({
    operatorToken,
    instance: {
      tokens,
      app: {
        supervisor,
        engines: registry,
        records,
        roster,
        settings: {
          home: layout.home,
          sessionRoots: [],
          interruptOnNewMessage: true,
          turnDeadlineMs: 60_000,
        },
      },
    },
  });
  const client = (token: string): Client => makeClient(gateway.port, { authorization: `Bearer ${token}` });
  const operator = client(operatorToken);
  return {
    url: `http://127.0.0.1:${gateway.port}`,
    operator,
    agent: (sessionId: string) => client(tokens.mint(sessionId)),
    socket: () => watch(`ws://127.0.0.1:${gateway.port}/ws`, { authorization: `Bearer ${operatorToken}` }),
    async work(employee: string, status = 'idle'): Promise<string> {
      const { body } = await operator.post('/api/sessions', { prompt: 'work', employee });
      await poll(
        () => operator.get(`/api/sessions/${body.id}`),
        (answer) => answer.body.status === status,
      );
      return body.id;
    },
    async close() {
      await gateway.close(1_000);
      await supervisor.stop({ drainMs: 1_000 });
      await records.close();
      await rm(layout.home, { recursive: true, force: true });
    },
  };
}

describe('budgets', () => {
  it('count what turns cost and warn, and by themselves never block', async () => {
    const shop = await openShop(false);
    try {
      const socket = await shop.socket();
      for (let n = 0; n < 3; n += 1) await shop.work('ann');
      await shop.work('bob');
      const { body } = await shop.operator.get('/api/org/budgets');
      expect(body.budgets).to.have.length(2);
      expect(body.budgets[0]).to.deep.include({
        employee: 'ann',
        limitUsd: 1,
        spentUsd: 1.8,
        turns: 3,
        percent: 180,
        state: 'exceeded',
      });
      expect(body.budgets[1]).to.deep.include({
        employee: 'bob',
        limitUsd: null,
        spentUsd: 0.6,
        percent: null,
        state: 'within',
      });
      expect((await shop.operator.get('/api/org/employees/ann/budget')).body).to.deep.equal(body.budgets[0]);
      expect(
        socket.frames
          .filter(({ event }) => event === 'budget:warning')
          .map(({ payload }) => (payload as { percent: number }).percent),
      ).to.deep.equal([80, 100]);
      socket.ws.terminate();
    } finally {
      await shop.close();
    }
  });

  it('that are enforced let no further turn begin, say why, and a grant lets what waits go on', async () => {
    const shop = await openShop(true);
    try {
      await shop.work('ann');
      await shop.work('ann');
      // The provider's limit was given as the reason of every turn that is held
      const troupe = createClient({ url: shop.url, token: operatorToken });
      const held = await troupe.sessions.run('work', { employee: 'ann' });
      if (isRefusal(held)) expect.fail(held.message);
      for await (const { type, content } of held) {
        if (type !== 'rate-limited') continue;
        expect(content).to.match(/^The budget of ann .* or by: troupe approve ann --usd 5$/);
        break;
      }
      held.close();
      const waiting = held.sessionId;
      const { body: session } = await shop.operator.get(`/api/sessions/${waiting}`);
      expect(session.lastError).to.match(
        /^The budget of ann for \d{4}-\d{2} is used up: \$1\.20 of \$1\.00\./,
      );
      expect(new Date(session.resetAt).toISOString()).to.match(/-01T00:00:00.000Z$/);
      const { waiting: things } = (await shop.operator.get('/api/attention')).body;
      // It was "$1.2 of $1": sums of money have two decimals everywhere
      expect(things.find(({ what }: { what: string }) => what === 'budget').title).to.match(
        /^ann: \$1\.20 of \$1\.00 spent in \d{4}-\d{2}$/,
      );
      await shop.work('bob');
      const granted = await shop.operator.post('/api/org/employees/ann/budget', {
        usd: 5,
        note: 'until Friday',
      });
      expect([granted.status, granted.body.grantedUsd, granted.body.state]).to.deep.equal([200, 5, 'within']);
      await poll(
        () => shop.operator.get(`/api/sessions/${waiting}`),
        (answer) => answer.body.status === 'idle',
      );
      expect((await shop.operator.get('/api/org/employees/ann/budget')).body.spentUsd).to.equal(1.8);
    } finally {
      await shop.close();
    }
  });

  it('take a grant once for a key, and can be asked what it would do: the key was read and not looked at', async () => {
    const shop = await openShop(false);
    try {
      const grant = (query = '') =>
        shop.operator.post(`/api/org/employees/bob/budget${query}`, { usd: 5, idempotencyKey: 'k' });
      const rehearsed = await grant('?dryRun=true');
      expect([
        rehearsed.status,
        rehearsed.body.allowed,
        (await shop.operator.get('/api/inspect/actors/budget/bob')).status,
      ]).to.deep.equal([200, true, 404]);
      const [first, again] = [await grant(), await grant()];
      expect([
        first.body.grantedUsd,
        again.body.grantedUsd,
        again.headers['idempotency-replayed'],
      ]).to.deep.equal([5, 5, 'true']);
    } finally {
      await shop.close();
    }
  });

  it('are nothing that an agent may look at or fill, and there is none for no one', async () => {
    const shop = await openShop(false);
    try {
      const agent = shop.agent(await shop.work('ann'));
      for (const path of ['/api/org/budgets', '/api/org/employees/ann/budget'])
        expect((await agent.get(path)).status, path).to.equal(403);
      expect((await agent.post('/api/org/employees/ann/budget', { usd: 5 })).status).to.equal(403);
      expect((await shop.operator.get('/api/org/employees/eve/budget')).status).to.equal(404);
      expect((await shop.operator.post('/api/org/employees/eve/budget', { usd: 5 })).status).to.equal(404);
      for (const usd of [0, -3, '5', null, 1e9])
        expect(
          (await shop.operator.post('/api/org/employees/ann/budget', { usd })).status,
          String(usd),
        ).to.equal(400);
    } finally {
      await shop.close();
    }
  });
});
