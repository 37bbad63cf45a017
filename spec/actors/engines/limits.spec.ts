import { expect } from 'chai';
import { defineEngine, type Engine } from '../../../actors/engines/engine.js';
import { limitsMemory, limitWindow, type EngineLimits } from '../../../actors/engines/limits.js';
import { createEngineRegistry } from '../../../actors/engines/registry.js';

const engine = (name: string, limits?: () => Promise<EngineLimits>, available = true): Engine =>
  defineEngine({
    name,
    effortMechanism: 'none',
    discover: () =>
      Promise.resolve({
        available,
        defaultModel: null,
        models: [],
        ...(available ? {} : { reason: 'It is not installed.' }),
      }),
    turn: () => Promise.reject(new Error('not in this spec')),
    ...(limits === undefined ? {} : { limits }),
  });

describe('what is known of limits', () => {
  let now = 0;
  const memory = limitsMemory('a notice', () => now);
  const read = () => Promise.resolve(memory.read());
  const registry = createEngineRegistry({
    engines: [
      engine('told', read),
      engine('mute'),
      engine('absent', read, false),
      engine('broken', () => Promise.reject(new Error('no luck'))),
    ],
  });
  const statusOf = async (name: string): Promise<string> =>
    (await registry.limits(name)).engines[name]?.status ?? 'none';

  it('is each of the five kinds, by what the engine really was told, and when', async () => {
    expect(await statusOf('told')).to.equal('static');
    memory.report([limitWindow('primary', 12, 300, 1_000)]);
    expect(await statusOf('told')).to.equal('live');
    now += 5 * 60_000;
    expect(await statusOf('told')).to.equal('cached');
    expect((await registry.limits('told')).engines['told']).to.not.have.property('stale');
    now += 30 * 60_000;
    expect((await registry.limits('told')).engines['told']).to.include({ status: 'cached', stale: true });
    expect(await statusOf('mute')).to.equal('unsupported');
    expect((await registry.limits('broken')).engines['broken']).to.include({
      status: 'error',
      error: 'no luck',
    });
  });

  it('is an error of an engine that is not here, whatever it was told before', async () => {
    expect((await registry.limits('absent')).engines['absent']).to.include({
      available: false,
      status: 'error',
      error: 'It is not installed.',
    });
  });

  it('is told of all engines, or of the one that is named, known or not', async () => {
    expect(Object.keys((await registry.limits()).engines)).to.deep.equal([
      'told',
      'mute',
      'absent',
      'broken',
    ]);
    expect((await registry.limits('nobody')).engines).to.have.nested.property(
      'nobody.unsupportedReason',
      'Unknown engine.',
    );
  });
});
