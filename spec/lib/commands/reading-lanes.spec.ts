import { expect } from 'chai';
import { readingOf } from '../../../lib/commands/changes/reading-lanes.js';
import { isRefusal } from '../../../machines/refusals.js';

describe('readingOf', () => {
  /** Readings that end when they are told to, and the order in which they began. */
  function readings() {
    const reading = readingOf({});
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const ask = (sessionId: string, name: string): Promise<unknown> =>
      reading(sessionId, name, () => {
        begun.push(name);
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
      });
    return { reading, begun, ask, end: (name: string) => ends.get(name)?.() };
  }
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('reads one after the other of a session, and four of all', async () => {
    const { begun, ask, end } = readings();
    const first = ask('a', 'a1');
    void ask('a', 'a2');
    for (const name of ['b', 'c', 'd', 'e']) void ask(name, name);
    await settle();
    expect(begun).to.deep.equal(['a1', 'b', 'c', 'd']);
    end('a1');
    expect(await first).to.equal('a1');
    await settle();
    expect(begun).to.have.length(5);
  });

  it('who asks seldom comes before who asks often', async () => {
    const { begun, ask, end } = readings();
    for (const name of ['w', 'x', 'y', 'z']) void ask(name, name);
    for (const name of ['a1', 'a2', 'a3']) void ask('a', name);
    void ask('b', 'b1');
    await settle();
    end('w');
    await settle();
    expect(begun.slice(4)).to.deep.equal(['b1']);
    end('b1');
    await settle();
    expect(begun.slice(4)).to.deep.equal(['b1', 'a1']);
  });

  it('answers those together who ask the same while it waits, and no one with what was begun before', async () => {
    const { begun, ask, end } = readings();
    const first = ask('a', 'changes');
    const others = [ask('a', 'changes'), ask('a', 'changes'), ask('a', 'patch')];
    await settle();
    expect(begun).to.deep.equal(['changes']);
    end('changes');
    await first;
    await settle();
    expect(begun).to.deep.equal(['changes', 'changes']);
    end('changes');
    expect(await Promise.all(others.slice(0, 2))).to.deep.equal(['changes', 'changes']);
  });

  it('refuses the 17th that would wait, goes on after a failure, and is one for one owner', async () => {
    const { reading, ask, end } = readings();
    const failed = reading('a', 'x', () => Promise.reject(new Error('no git'))).catch(
      (error: Error) => error.message,
    );
    expect(await failed).to.equal('no git');
    const all = Array.from({ length: 18 }, (_, n) => ask('a', `a${n}`));
    const last = await all.at(-1);
    expect(isRefusal(last) && last.code).to.equal('BUSY');
    void ask('b', 'b');
    await settle();
    end('b');
    end('a0');
    expect(await all[0]).to.equal('a0');
    const owner = {};
    expect(readingOf(owner)).to.equal(readingOf(owner));
  });
});
