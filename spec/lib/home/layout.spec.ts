import { expect } from 'chai';
import { layoutOf } from '../../../lib/home/layout.js';

describe('layoutOf', () => {
  const userFolder = '/home/ada';

  it("puts the home under the person's folder when nothing is said", () => {
    const layout = layoutOf({ userFolder, env: {} });
    expect(layout).to.include({
      instance: 'default',
      home: '/home/ada/.svc',
      config: '/home/ada/.svc/config.yaml',
      announcement: '/home/ada/.svc/gateway.json',
    });
    expect(layoutOf({ userFolder, env: { SVC_HOME: '' } }).home).to.equal('/home/ada/.svc');
  });

  it('lets the nearest wish win: --home, --instance, SVC_HOME', () => {
    const env = { SVC_HOME: '/srv/troupe' };
    expect(layoutOf({ userFolder, env }).home).to.equal('/srv/troupe');
    expect(layoutOf({ userFolder, env, instance: 'lab' })).to.include({
      home: '/home/ada/.svc-lab',
      instance: 'lab',
    });
    expect(layoutOf({ userFolder, env, instance: 'lab', home: '/data/x/' })).to.include({
      home: '/data/x',
      instance: 'lab',
    });
    expect(layoutOf({ userFolder, env, instance: 'default' }).home).to.equal('/srv/troupe');
  });

  it('refuses instance names that would not fit a cookie or a folder', () => {
    for (const instance of ['', 'Lab', 'a b', '../x', '-a', 'a-', 'a'.repeat(33), 'ä', 'a;b']) {
      expect(() => layoutOf({ userFolder, env: {}, instance }), JSON.stringify(instance)).to.throw(
        /instance name/,
      );
    }
    for (const instance of ['a', 'a1', 'my-lab', 'a'.repeat(32)])
      expect(layoutOf({ userFolder, env: {}, instance }).instance).to.equal(instance);
  });

  it('refuses homes that are no folder of their own', () => {
    for (const home of ['', '  ', '/', 'a\0b'])
      expect(() => layoutOf({ home }), JSON.stringify(home)).to.throw(/--home/);
    expect(() => layoutOf({ userFolder, env: { SVC_HOME: 'relative' } })).to.throw(/absolute/);
  });
});
