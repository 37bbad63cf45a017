import { expect } from 'chai';
import { openHouse, type House } from './fixture.js';

describe('GET /api/engine-limits', () => {
  let house: House;
  before(async () => {
    house = await openHouse();
  });
  after(() => house.close());

  it('tells when it was made, the default engine, and what each engine is known to have left', async () => {
    const { status, body } = await house.operator.get('/api/engine-limits');
    expect(status).to.equal(200);
    expect(new Date(body.generatedAt).toISOString()).to.equal(body.generatedAt);
    expect(body.default).to.equal('pen');
    expect(body.engines.pen).to.include({ name: 'pen', available: true, status: 'unsupported' });
    expect(body.engines.ghost).to.include({ name: 'ghost', available: false, status: 'error' });
    // clients make a date of it without asking
    for (const engine of Object.values(body.engines) as { refreshedAt: string }[])
      expect(engine.refreshedAt).to.equal(body.generatedAt);
  });

  it('tells of one engine where one is named, and does not fall over an unknown one', async () => {
    expect(
      Object.keys((await house.operator.get('/api/engine-limits?engine=pen')).body.engines),
    ).to.deep.equal(['pen']);
    const { status, body } = await house.operator.get('/api/engine-limits?engine=nobody');
    expect([status, body.engines.nobody.status]).to.deep.equal([200, 'unsupported']);
    expect((await house.operator.get('/api/engine-limits?engine=')).status).to.equal(400);
  });
});
