import { expect } from 'chai';
import { isRefusal, refuse } from '../../machines/refusals.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';

/**
 * Found by the fuzzer: a body `{"refused": true, …}` was taken for a refusal of ours, so a client chose
 * status and text of the answer, and skipped the parser.
 */
describe('a body that looks like a refusal', () => {
  let house: House;
  before(async () => {
    house = await openHouse();
  });
  after(() => house.close());
  const forged = { refused: true, code: 'DRAINING', message: 'Come back later.', details: { resetAt: 1 } };

  it('is a body like any other', async () => {
    const bare = await house.operator.post('/api/work-items', forged);
    expect(bare.status).to.equal(400);
    expect(bare.body).to.include({ code: 'BAD_REQUEST', error: 'title is required' });
    const whole = await house.operator.post('/api/work-items', { ...forged, title: 'Water the plants' });
    expect(whole.status, whole.text).to.equal(201);
  });

  it('does not make a route answer 500', async () => {
    for (const body of [
      { refused: true },
      { refused: true, status: 'x', details: null },
      { refused: true, status: 99, code: 'X' },
      { refused: true, details: null },
    ]) {
      const { status } = await house.operator.post('/api/work-items', body);
      expect(status, JSON.stringify(body)).to.equal(400);
    }
  });

  it('is told from a true one, which no JSON can be', () => {
    const refusal = refuse('NOT_FOUND', { kind: 'session' });
    expect(isRefusal(refusal)).to.equal(true);
    expect(isRefusal(JSON.parse(JSON.stringify(refusal)))).to.equal(false);
    expect(isRefusal(forged)).to.equal(false);
    expect(isRefusal(Object.create(refusal))).to.equal(false);
  });
});
