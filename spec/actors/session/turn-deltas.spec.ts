import { expect } from 'chai';
import fc from 'fast-check';
import { createDeltas, type DeltaFrame } from '../../../actors/session/turn-deltas.js';

function gather(): { readonly deltas: ReturnType<typeof createDeltas>; readonly frames: DeltaFrame[] } {
  const frames: DeltaFrame[] = [];
  return { deltas: createDeltas((frame) => void frames.push(frame)), frames };
}

describe('createDeltas', () => {
  it('sends the first words at once and gathers what follows into few frames', () => {
    const { deltas, frames } = gather();
    for (const word of ['one ', 'two ', 'three ', 'four']) deltas.add('text', word);
    expect(frames).to.deep.equal([{ type: 'text', content: 'one ', offset: 0 }]);
    deltas.close();
    expect(frames.slice(1)).to.deep.equal([{ type: 'text', content: 'two three four', offset: 4 }]);
    expect(deltas.text()).to.equal('one two three four');
  });

  it('keeps the order of words and tools', () => {
    const { deltas, frames } = gather();
    deltas.add('text', 'a');
    deltas.add('text', 'b');
    deltas.add('tool_use', 'Using ls', { toolName: 'ls' });
    deltas.add('text', 'c');
    deltas.close();
    expect(frames.map(({ type, content, toolName }) => [type, content, toolName])).to.deep.equal([
      ['text', 'a', undefined],
      ['text', 'b', undefined],
      ['tool_use', 'Using ls', 'ls'],
      ['text', 'c', undefined],
    ]);
  });

  it('makes no frame larger than 8 KiB, and no half characters', () => {
    const { deltas, frames } = gather();
    deltas.add('text', '€'.repeat(5_000));
    deltas.close();
    expect(Math.max(...frames.map(({ content }) => Buffer.byteLength(content)))).to.be.at.most(8 * 1024);
    expect(frames.map(({ content }) => content).join('')).to.equal('€'.repeat(5_000));
  });

  it('leaves out what is too much and shows the hole by the next offset', () => {
    const { deltas, frames } = gather();
    for (let n = 0; n < 1_000; n += 1) deltas.add('text', 'x'.repeat(1_000));
    deltas.close();
    const sent = frames.reduce((sum, { content }) => sum + content.length, 0);
    expect(sent).to.be.at.most(80 * 1024);
    expect(deltas.text().length).to.equal(256 * 1024);
    for (let n = 0; n < 500; n += 1) deltas.add('tool_use', 'too late');
    expect(frames.every(({ type }) => type === 'text')).to.equal(true);
  });

  it('forgets tools beyond a bound, not the process', () => {
    const { deltas, frames } = gather();
    for (let n = 0; n < 10_000; n += 1) deltas.add('tool_use', `call ${n}`);
    deltas.close();
    expect(frames.length).to.be.at.most(70);
  });

  it('pauses between frames, also when the one who hears one adds more at once', async () => {
    const frames: DeltaFrame[] = [];
    await new Promise<void>((resolve) => {
      const deltas = createDeltas((frame) => {
        frames.push(frame);
        deltas.add('text', 'more');
        if (frames.length === 4) {
          deltas.close();
          resolve();
        }
      });
      deltas.add('text', 'first');
      expect(frames).to.have.lengthOf(1); // the next ones come with time
    });
    expect(frames.slice(0, 4).map(({ content }) => content)).to.deep.equal(['first', 'more', 'more', 'more']);
  });

  it('tells for any talk where each piece of text stands', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('text', 'status'), fc.string({ unit: 'grapheme', maxLength: 40 }))),
        (said) => {
          const { deltas, frames } = gather();
          for (const [type, content] of said) deltas.add(type as 'text' | 'status', content);
          deltas.close();
          const text = said
            .filter(([type]) => type === 'text')
            .map(([, content]) => content)
            .join('');
          expect(deltas.text()).to.equal(text);
          for (const { type, content, offset = -1 } of frames)
            if (type === 'text') expect(text.slice(offset, offset + content.length)).to.equal(content);
        },
      ),
    );
  });
});
