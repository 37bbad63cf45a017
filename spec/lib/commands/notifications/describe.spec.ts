import { expect } from 'chai';
import { describe as describeWaiting } from '../../../../lib/commands/notifications/describe.js';
import type { App } from '../../../../lib/commands/app.js';
import { openHouse, poll, type House } from '../../gateway/fixture.js';

describe('what a notification says', () => {
  let house: House;
  before(async () => {
    house = await openHouse();
  });
  after(() => house.close());

  // why: a damaged row of one session kept the notifications about everything else back
  it('is the title alone where what is asked cannot be read, without buttons', async () => {
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'hang' })).body;
    await poll(
      () => house.operator.get(`/api/sessions/${id}`),
      ({ body }) => body.status === 'running',
    );
    const asked = await house.supervisor.ask('session', id, {
      type: 'permission.asked',
      permissionId: 'p1',
      turnId: `${id}:1`,
      tool: 'Bash',
      title: 'rm -r build',
      text: '{"command":"rm -r build"}',
      waitMs: 600_000,
    });
    expect(asked).to.not.have.property('code');
    const [item] = (await house.supervisor.waiting({ limit: 1 })).items;
    if (item === undefined) throw new Error('nothing waits');
    const { app } = house.gateway;
    const whole = await describeWaiting(app, item);
    expect([whole.text, whole.choices.length]).to.deep.equal(['{"command":"rm -r build"}', 2]);
    const supervisor = Object.create(app.supervisor, {
      rows: { value: () => Promise.reject(new Error('the row is damaged')) },
    }) as App['supervisor'];
    const poor = await describeWaiting({ ...app, supervisor }, item);
    expect(poor).to.deep.include({ title: whole.title, text: '', choices: [], link: whole.link });
  });
});
