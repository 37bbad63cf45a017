import { expect } from 'chai';
import { remoteFrame } from '../../../lib/worker/remote-frames.js';

/**
 * One frame of 5 MB that a worker said held the gateway for four seconds, and one that was nested a thousand deep came
 * in, to be walked through by whatever keeps, redacts and shows it.
 */
describe('what a worker says of the input of a tool', () => {
  const asked = (input: string) =>
    remoteFrame(
      `{"type":"event","turnId":"t","event":{"seq":1,"type":"permission.asked","permissionId":"p1",` +
        `"tool":"Bash","title":"x","input":${input}}}`,
    );
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  const listed = (text: string, count: number): string =>
    `[${Array.from({ length: count }, () => text).join()}]`;

  it('is any JSON, as deep and long as tools have it', () => {
    for (const input of [
      'null',
      '0',
      '"a"',
      '{"command":"ls","more":[{"a":[1]}]}',
      nested(60),
      listed('"ab"', 100_000),
    ])
      expect(asked(input)).to.have.nested.property('event.input').that.deep.equals(JSON.parse(input));
  });

  it('is refused where there is none, where it is longer, and where it is nested deeper', () => {
    for (const input of [
      nested(100),
      nested(1_000),
      nested(100_000),
      listed('[]', 1_600_000),
      `"${'x'.repeat(1_000_001)}"`,
    ])
      expect(asked(input), input.slice(0, 10)).to.equal(undefined);
    const without = { seq: 1, type: 'permission.asked', permissionId: 'p1', tool: 'Bash', title: 'x' };
    expect(remoteFrame(JSON.stringify({ type: 'event', turnId: 't', event: without }))).to.equal(undefined);
  });
});
