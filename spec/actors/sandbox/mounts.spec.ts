import { expect } from 'chai';
import { bubblewrapCommand } from '../../../actors/sandbox/bubblewrap.js';
import { narrower } from '../../../actors/sandbox/levels.js';
import { mountsOf, type Places } from '../../../actors/sandbox/mounts.js';
import { seatbeltProfile } from '../../../actors/sandbox/seatbelt.js';

const places: Places = {
  hidden: [{ path: '/home/me/.svc' }, { path: '/etc/key.pem', isFile: true }],
  control: [{ path: '/run/user/1' }],
  runLater: ['/home/me/.bashrc'],
  userHome: '/home/me',
  secrets: [{ path: '/home/me/.ssh' }],
  programs: ['/home/me/.nvm'],
  shared: ['/tmp', '/run'],
  sharedReads: ['/run/systemd/resolve'],
};
const needs = (cwd: string) => ({ cwd, reads: [], writes: [], privates: [] });

describe('what a sandbox shows', () => {
  const seen = (level: 'home' | 'workspace', cwd: string) =>
    Object.fromEntries(mountsOf(level, places, needs(cwd)).map(({ path, access }) => [path, access]));

  it('is everything but the home at home, and nothing of the user at workspace', () => {
    expect(seen('home', '/home/me/project')).to.include({ '/': 'write', '/home/me/.svc': 'hidden' });
    expect(seen('workspace', '/home/me/project')).to.include({
      '/': 'read',
      '/home/me': 'private',
      '/home/me/project': 'write',
      '/home/me/.nvm': 'read',
      '/home/me/.ssh': 'hidden',
    });
  });

  it('has an own folder within what is hidden, and hides what lies within an own folder', () => {
    for (const cwd of ['/home/me/.svc/work/s1', '/home/me']) {
      const order = mountsOf('workspace', places, needs(cwd)).map(({ path }) => path);
      expect(order[0]).to.equal('/');
      const [outer, inner] = [cwd, '/home/me/.svc'].sort((one, other) => one.length - other.length);
      expect(order.indexOf(outer ?? '')).to.be.lessThan(order.indexOf(inner ?? ''));
      expect(seen('workspace', cwd)).to.include({ [cwd]: 'write', '/home/me/.ssh': 'hidden' });
    }
  });

  it('is never more than asked: keys stay hidden where they are the working folder', () => {
    expect(seen('workspace', '/home/me/.ssh')).to.include({ '/home/me/.ssh': 'hidden' });
    expect(seen('home', '/home/me/.svc')).to.include({ '/home/me/.svc': 'hidden' });
  });

  it('becomes arguments without powers of the superuser, and a profile in which the last rule counts', () => {
    const mounts = mountsOf('workspace', places, needs('/home/me/project'));
    const words = bubblewrapCommand('/usr/bin/bwrap', ['sh'], {
      mounts,
      cwd: '/home/me/project',
      isOffline: true,
      env: '/usr/bin/env',
      limit: { prlimit: '/usr/bin/prlimit', processesMax: 64 },
    }).join(' ');
    expect(words).to.match(
      /^\/usr\/bin\/env --ignore-signal=INT \/usr\/bin\/bwrap --die-with-parent --unshare-pid .*--unshare-net --cap-drop ALL/,
    );
    expect(words).to.match(/-- \/usr\/bin\/prlimit --nproc=64 -- \/usr\/bin\/env --default-signal=INT sh$/);
    const profile = seatbeltProfile(mounts, '/private/tmp/own');
    const at = (rule: string): number => profile.indexOf(rule);
    expect(at('write* (subpath "/home/me/.ssh")')).to.be.greaterThan(at('write* (subpath "/home/me")'));
    expect(at('write* (subpath "/home/me")')).to.be.greaterThan(at('write* (subpath "/")'));
    expect(profile).to.include('(literal "/etc/key.pem")');
    expect(seatbeltProfile([{ access: 'read', path: '/a"b' }], undefined)).to.include('(subpath "/a\\"b")');
  });

  it('is the narrower of two levels', () => {
    expect([narrower('home', 'strict'), narrower('workspace', 'off')]).to.deep.equal(['strict', 'workspace']);
  });
});
