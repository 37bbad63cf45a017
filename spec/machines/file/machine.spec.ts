import { expect } from 'chai';
import { admitFile } from '../../../machines/file/machine.js';
import { fresh } from './beings.js';

const agent = { type: 'session', id: 's1', employee: null, ancestors: [] } as const;

describe('a file', () => {
  it('is told of when it is stored and when it is removed', () => {
    const file = fresh();
    expect(file.frames('file:uploaded')[0]?.payload).to.deep.equal({
      id: 'f1',
      filename: 'a.txt',
      size: 3,
      sessionId: null,
    });
    expect(file.send({ type: 'file.remove' })).to.equal(undefined);
    expect([file.value, file.snapshot.status, file.frames('file:deleted').length]).to.deep.equal([
      'removed',
      'done',
      1,
    ]);
  });

  it('is not removed by an agent, nor moved by anything unknown', () => {
    const file = fresh();
    const before = file.json;
    expect(file.send({ type: 'file.remove', by: agent })).to.include({ code: 'FORBIDDEN' });
    expect(file.send({ type: 'file.replace' })).to.include({ code: 'UNKNOWN_EVENT' });
    expect(file.json).to.equal(before);
  });

  it('is admitted whole or not at all', () => {
    const whole = {
      id: 'f',
      at: 1,
      filename: 'a',
      size: 1,
      mimetype: 'x',
      path: 'files/f/a',
      sha256: 'x',
      sessionId: null,
    };
    expect(admitFile(whole)).to.equal(undefined);
    expect(admitFile({ ...whole, size: '1' } as never)).to.include({ code: 'BAD_REQUEST' });
    expect(admitFile({ ...whole, filename: 'x'.repeat(300) })).to.include({ code: 'BAD_REQUEST' });
  });
});
