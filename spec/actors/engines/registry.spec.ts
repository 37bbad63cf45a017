import { expect } from 'chai';
import { defineEngine, type Engine, type EngineFacts } from '../../../actors/engines/engine.js';
import { limitWindow, type EngineLimits } from '../../../actors/engines/limits.js';
import { createEngineRegistry } from '../../../actors/engines/registry.js';

const model = (id: string, effortLevels: readonly string[] = []) => ({
  id,
  label: id,
  supportsEffort: effortLevels.length > 0,
  effortLevels,
});

function engine(name: string, facts: Partial<EngineFacts> | (() => Promise<EngineFacts>) = {}): Engine {
  return defineEngine({
    name,
    effortMechanism: 'none',
    discover:
      typeof facts === 'function'
        ? facts
        : () => Promise.resolve({ available: true, defaultModel: null, models: [], ...facts }),
    turn: () => Promise.reject(new Error('not in this spec')),
  });
}

describe('createEngineRegistry', () => {
  const claude = engine('claude', {
    defaultModel: 'opus',
    models: [model('opus', ['low', 'high']), model('haiku')],
  });
  const absent = engine('codex', {
    available: false,
    reason: 'The program "codex" was not found on the PATH.',
    remedy: 'npm i -g @openai/codex',
  });

  it('chooses defaults where nothing is asked for', async () => {
    expect(await createEngineRegistry({ engines: [claude] }).select()).to.deep.equal({
      engine: 'claude',
      model: 'opus',
      effort: null,
    });
    expect(await createEngineRegistry({ engines: [claude] }).select('claude', 'haiku')).to.deep.equal({
      engine: 'claude',
      model: 'haiku',
      effort: null,
    });
    expect(await createEngineRegistry({ engines: [claude] }).select(null, null, 'low')).to.deep.equal({
      engine: 'claude',
      model: 'opus',
      effort: 'low',
    });
  });

  it('refuses what is not known, by exact string, and says what is', async () => {
    const registry = createEngineRegistry({ engines: [claude, absent] });
    expect(await registry.select('Claude')).to.deep.include({
      refused: true,
      code: 'UNKNOWN_ENGINE',
      message: 'unknown engine "Claude" (known: claude, codex)',
      details: { engine: 'Claude', known: ['claude', 'codex'] },
    });
    expect(await registry.select('claude', 'OPUS')).to.deep.include({
      code: 'UNKNOWN_MODEL',
      message: 'unknown model "OPUS" for engine "claude" (known: opus, haiku)',
    });
    expect(await registry.select('claude', 'haiku', 'low')).to.deep.include({
      code: 'UNKNOWN_EFFORT',
      message: 'engine "claude" model "haiku" does not support effort levels',
    });
    expect(await registry.select('claude', 'opus', 'max')).to.deep.include({
      code: 'UNKNOWN_EFFORT',
      message: 'unknown effort "max" for engine "claude" model "opus" (known: low, high)',
    });
  });

  it('selects an engine that is not here, with the reason and what would repair it', async () => {
    expect(await createEngineRegistry({ engines: [absent] }).select('codex')).to.deep.equal({
      engine: 'codex',
      model: null,
      effort: null,
      unavailable: {
        reason:
          'Engine "codex" is not available. The program "codex" was not found on the PATH. To fix it: npm i -g @openai/codex',
      },
    });
  });

  it('takes as default the configured one, else the first that is here, the clerk last', async () => {
    const clerk = engine('clerk');
    expect(await createEngineRegistry({ engines: [clerk, absent, claude] }).defaultEngine()).to.equal(
      'claude',
    );
    expect(await createEngineRegistry({ engines: [clerk, absent] }).defaultEngine()).to.equal('clerk');
    expect(
      await createEngineRegistry({ engines: [clerk, claude], default: 'clerk' }).defaultEngine(),
    ).to.equal('clerk');
    const none = createEngineRegistry({ engines: [absent] });
    expect(await none.defaultEngine()).to.equal(null);
    expect(await none.select()).to.include({ code: 'UNKNOWN_ENGINE' });
  });

  it('lists what is known in the shape of the API', async () => {
    expect(await createEngineRegistry({ engines: [claude, absent] }).list()).to.deep.equal({
      default: 'claude',
      engines: {
        claude: {
          name: 'claude',
          available: true,
          defaultModel: 'opus',
          effortMechanism: 'none',
          models: [model('opus', ['low', 'high']), model('haiku')],
        },
        codex: {
          name: 'codex',
          available: false,
          defaultModel: null,
          effortMechanism: 'none',
          models: [],
          reason: 'The program "codex" was not found on the PATH.',
          remedy: 'npm i -g @openai/codex',
        },
      },
    });
  });

  it('looks once a minute, or when told to', async () => {
    let looks = 0;
    let now = 0;
    const counted = engine('claude', () => {
      looks += 1;
      return Promise.resolve({ available: true, defaultModel: null, models: [] });
    });
    const registry = createEngineRegistry({ engines: [counted], now: () => now });
    await Promise.all([registry.list(), registry.select()]);
    expect(looks).to.equal(1);
    now = 59_999;
    await registry.list();
    expect(looks).to.equal(1);
    now = 60_000;
    await registry.list();
    expect(looks).to.equal(2);
    registry.refresh();
    await registry.list();
    expect(looks).to.equal(3);
  });

  it('tells of an engine that is another than at the last look, and not of the first look or of one that is the same', async () => {
    let facts: EngineFacts = { available: false, reason: 'It is not here.', defaultModel: null, models: [] };
    const registry = createEngineRegistry({
      engines: [engine('claude', () => Promise.resolve(facts)), absent],
    });
    const told: string[] = [];
    const look = async (): Promise<number> => {
      registry.refresh();
      await registry.list();
      return told.length;
    };
    const forget = registry.onChange((name) => told.push(name));
    expect([await look(), await look()]).to.deep.equal([0, 0]);
    facts = { available: true, defaultModel: 'opus', models: [model('opus')] };
    expect([await look(), await look()]).to.deep.equal([1, 1]);
    expect(told).to.deep.equal(['claude']);
    forget();
    facts = { ...facts, models: [] };
    expect(await look()).to.equal(1);
  });

  it('tells of limits that are other than before, and not of when they were told', async () => {
    let limits: EngineLimits = { status: 'static', source: 'configuration' };
    const registry = createEngineRegistry({
      engines: [{ ...claude, limits: () => Promise.resolve(limits) }, absent],
    });
    const told: string[] = [];
    registry.onChange((name) => told.push(name));
    const hear = async (next: EngineLimits): Promise<number> => {
      limits = next;
      await registry.hear('claude');
      return told.length;
    };
    const live = (usedPercent: number, at: string): EngineLimits => ({
      status: 'live',
      source: 'turns',
      refreshedAt: at,
      windows: [limitWindow('primary', usedPercent, 300, null)],
    });
    expect(await hear(limits)).to.equal(0);
    expect(await hear(live(10, '2026-01-01T00:00:00.000Z'))).to.equal(1);
    expect(await hear({ ...live(10, '2026-01-01T00:01:00.000Z'), status: 'cached' })).to.equal(1);
    expect(await hear({ status: 'error', source: 'engine', error: 'Not now.' })).to.equal(1);
    expect(await hear(live(11, '2026-01-01T00:02:00.000Z'))).to.equal(2);
    await registry.hear('codex');
    await registry.hear('nobody');
    expect(told).to.deep.equal(['claude', 'claude']);
  });

  it('calls an engine unavailable that breaks while it is looked for', async () => {
    const throwing = engine('claude', () => {
      throw new Error('boom');
    });
    expect((await createEngineRegistry({ engines: [throwing] }).list()).engines['claude']).to.include({
      available: false,
      reason: 'Detecting it failed: boom',
    });
  });

  it('refuses two engines of one name', () => {
    expect(() => createEngineRegistry({ engines: [claude, claude] })).to.throw('same name');
  });
});
