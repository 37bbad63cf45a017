import { expect } from 'chai';
import { createEngineRegistry } from '../../../actors/engines/registry.js';
import { defineEngine, type TranscriptEntry } from '../../../actors/engines/engine.js';
import { openHouse, poll, type House } from './fixture.js';

/** Someone went on with a session in the agent's own program; the one who looks at the session here finds it. */
describe('GET /api/sessions/:id of a conversation that went on elsewhere', () => {
  const hookSecret = 'a-hook-secret-of-forty-three-characters-abc';
  let house: House;
  let record: readonly TranscriptEntry[];
  let reads: string[];
  let broken: boolean;
  before(async () => {
    const diary = defineEngine({
      name: 'diary',
      effortMechanism: 'none',
      discover: async () => ({ available: true, defaultModel: null, models: [] }),
      turn: () => Promise.reject(new Error('the turn hand of the fixture serves')),
      async readTranscript(nativeId, cwd) {
        reads.push(`${nativeId} ${cwd}`);
        if (broken) throw new Error('no such disk');
        return record;
      },
    });
    house = await openHouse({
      engines: createEngineRegistry({ engines: [diary], default: 'diary' }),
      hookSecret,
    });
  });
  after(() => house.close());
  beforeEach(() => {
    [record, reads, broken] = [[], [], false];
  });

  /** A session at rest whose engine has a name for it. */
  async function rested(): Promise<{
    readonly id: string;
    readonly cwd: string;
    readonly lastActivity: string;
  }> {
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'hang' })).body;
    await house.supervisor.ask('session', id, {
      type: 'turn.native',
      turnId: `${id}:1`,
      nativeId: `native-${id}`,
    });
    await house.operator.get(`/api/sessions/${id}`); // it runs: nothing is looked for
    expect(reads).to.deep.equal([]);
    await house.operator.post(`/api/sessions/${id}/stop`);
    return (
      await poll(
        () => house.operator.get('/api/sessions?limit=0'),
        ({ body }) => body.find((one: { id: string }) => one.id === id)?.status === 'stopped',
      )
    ).body.find((one: { id: string }) => one.id === id);
  }

  it('takes over what was said there, beside the answer, and looks once a minute', async () => {
    const { id, cwd, lastActivity } = await rested();
    const socket = await house.socket('/ws');
    const at = Date.parse(lastActivity);
    record = [
      { id: 'old', role: 'user', content: 'known already', timestamp: at },
      { id: 't1', role: 'user', content: 'and the ferns?', timestamp: at + 1 },
      { id: 't2', role: 'assistant', content: 'Watered.', timestamp: at + 2 },
    ];
    await poll(
      async () => Date.now(),
      (now) => now > at + 2,
    );
    const first = await house.operator.get(`/api/sessions/${id}`);
    expect(
      first.body.messages.some((one: { id: string }) => one.id === 't1'),
      'nobody waits for it',
    ).to.equal(false);
    await socket.until(
      ({ event, payload }) =>
        event === 'session:external-turn' && payload.sessionId === id && payload.messages === 2,
    );
    for (let looks = 0; looks < 3; looks++) {
      const { body } = await house.operator.get(`/api/sessions/${id}?last=2`);
      expect(body.messages).to.deep.equal([
        { id: 't1', role: 'user', content: 'and the ferns?', timestamp: at + 1, meta: { kind: 'external' } },
        { id: 't2', role: 'assistant', content: 'Watered.', timestamp: at + 2, meta: { kind: 'external' } },
      ]);
      expect(body.status).to.equal('stopped');
    }
    expect(reads).to.deep.equal([`native-${id} ${cwd}`]);
    // What people write stays out of the log
    expect(JSON.stringify(await house.supervisor.history({ kind: 'session', id }))).to.not.include('ferns');
  });

  it('takes it over at once when a hook of that program says so', async () => {
    const { id, cwd, lastActivity } = await rested();
    const at = Date.parse(lastActivity);
    record = [{ id: `h-${id}`, role: 'user', content: 'and the moss?', timestamp: at + 1 }];
    const hook = house.client({ 'x-svc-hook-secret': hookSecret });
    const said = { session_id: `native-${id}`, hook_event_name: 'Stop', transcript_path: '/etc/passwd' };
    const { status, body } = await hook.post('/api/internal/hook', said);
    expect([status, body]).to.deep.equal([200, { sessionId: id }]);
    expect(reads, 'only where the engine keeps it').to.deep.equal([`native-${id} ${cwd}`]);
    const { messages } = (await house.operator.get(`/api/sessions/${id}/messages?limit=1`)).body;
    expect(messages[0]).to.include({ id: `h-${id}`, content: 'and the moss?' });
    const unknown = await hook.post('/api/internal/hook', { session_id: 'of-no-session' });
    expect([unknown.status, unknown.body]).to.deep.equal([200, { sessionId: null }]);
    expect((await hook.post('/api/internal/hook', {})).status).to.equal(400);
  });

  it('takes a hook from the one who shows the secret, and the secret for nothing else', async () => {
    const said = { session_id: 'x' };
    for (const client of [
      house.client(),
      house.operator,
      house.client({ 'x-svc-hook-secret': `${hookSecret}x` }),
      house.client({ authorization: `Bearer ${hookSecret}` }),
    ]) {
      const { status, body } = await client.post('/api/internal/hook', said);
      expect([status, body.code]).to.deep.equal([401, 'UNAUTHENTICATED']);
    }
    for (const headers of [{ 'x-svc-hook-secret': hookSecret }, { authorization: `Bearer ${hookSecret}` }])
      expect((await house.client(headers as Record<string, string>).get('/api/sessions')).status).to.equal(
        401,
      );
  });

  it('answers all the same where the record cannot be read', async () => {
    const { id } = await rested();
    broken = true;
    expect((await house.operator.get(`/api/sessions/${id}`)).status).to.equal(200);
    expect(reads).to.have.lengthOf(1);
  });
});
