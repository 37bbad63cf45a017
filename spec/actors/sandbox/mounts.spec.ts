import { expect } from 'chai';
import { bubblewrapCommand, type Scope } from '../../../actors/sandbox/bubblewrap.js';
import { narrower } from '../../../actors/sandbox/levels.js';
import { mountsOf, type Places } from '../../../actors/sandbox/mounts.js';
import { seatbeltProfile } from '../../../actors/sandbox/seatbelt.js';

const places: Places = {
  hidden: [{ path: '/home/me/.svc' }, { path: '/etc/key.pem', isFile: true }],
  control: [{ path: '/run/user/1' }],
  runLater: ['/home/me/.bashrc'],
  kept: [
    { path: '/opt/bin' },
    { path: '/home/me/project/node_modules/.bin' },
    { path: '/home/me/project/engine.sh', isFile: true },
    { path: '/home/me/.svc/modules' },
  ],
  userHome: '/home/me',
  ofUserAtHome: [
    { access: 'read', path: '/home/me' },
    { access: 'write', path: '/home/me/.claude' },
    { access: 'write', path: '/home/me/project' },
  ],
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
      bounds: {
        prlimit: '/usr/bin/prlimit',
        scope: undefined,
        processesMax: 64,
        countsProcesses: true,
        memoryBytesMax: 1024,
      },
      same: undefined,
    }).join(' ');
    expect(words).to.match(
      /^\/usr\/bin\/env --ignore-signal=INT \/usr\/bin\/bwrap --die-with-parent --unshare-pid .*--unshare-net --cap-drop ALL/,
    );
    expect(words).to.match(
      /-- \/usr\/bin\/prlimit --nproc=64 --data=1024 -- \/usr\/bin\/env --default-signal=INT sh$/,
    );
    const profile = seatbeltProfile(mounts, '/private/tmp/own');
    const at = (rule: string): number => profile.indexOf(rule);
    expect(at('write* (subpath "/home/me/.ssh")')).to.be.greaterThan(at('write* (subpath "/home/me")'));
    expect(at('write* (subpath "/home/me")')).to.be.greaterThan(at('write* (subpath "/")'));
    expect(profile).to.include('(literal "/etc/key.pem")');
    expect(seatbeltProfile([{ access: 'read', path: '/a"b' }], undefined)).to.include('(subpath "/a\\"b")');
  });

  it('keeps what the gateway starts later from being written, and shows nothing of its home for that', () => {
    const home = seen('home', '/home/me/project');
    expect(home).to.include({ '/opt/bin': 'read', '/home/me/project/engine.sh': 'read' });
    expect(home).to.not.have.any.keys('/home/me/project/node_modules/.bin', '/home/me/.svc/modules');
    expect(seen('workspace', '/home/me/project')).to.not.have.property('/opt/bin');
  });

  it('bounds memory and processes of a whole turn where systemd makes it a scope, else memory of each', () => {
    const wrapped = (scope: Scope | undefined): string =>
      bubblewrapCommand('/usr/bin/bwrap', ['sh'], {
        mounts: [],
        cwd: '/',
        isOffline: false,
        env: undefined,
        bounds: {
          prlimit: '/usr/bin/prlimit',
          scope,
          processesMax: 64,
          countsProcesses: false,
          memoryBytesMax: 1024,
        },
        same: undefined,
      }).join(' ');
    for (const manager of ['--user', '--system'] as const)
      expect(wrapped({ path: '/usr/bin/systemd-run', manager })).to.match(
        new RegExp(
          `^/usr/bin/systemd-run ${manager} --scope .*-p TasksMax=64 -p MemoryMax=1024 .* -- /usr/bin/bwrap .* -- sh$`,
        ),
      );
    expect(wrapped(undefined)).to.match(/^\/usr\/bin\/bwrap .* -- \/usr\/bin\/prlimit --data=1024 -- sh$/);
  });

  it('on macOS closes hidden sockets and whatever has launchd start a program, and lets the last rule count', () => {
    const profile = seatbeltProfile(
      [
        { access: 'write', path: '/' },
        { access: 'private', path: '/Users/me' },
        { access: 'write', path: '/Users/me/project' },
        { access: 'hidden', path: '/Users/me/.docker/run' },
      ],
      '/private/tmp/own',
    ).split('\n');
    expect(profile.slice(0, 2)).to.deep.equal(['(version 1)', '(allow default)']);
    const at = (rule: string): number => {
      expect(profile, rule).to.include(rule);
      return profile.indexOf(rule);
    };
    expect(at('(deny file-read-data file-write* (subpath "/Users/me"))')).to.be.lessThan(
      at('(allow file-read* file-write* (subpath "/Users/me/project"))'),
    );
    at('(deny file-read-data file-write* (subpath "/Users/me/.docker/run"))');
    at('(deny network-outbound (subpath "/Users/me/.docker/run"))');
    at('(allow file-read* file-write* (subpath "/private/tmp/own"))');
    at('(deny signal (target others))');
    expect(profile.find((rule) => rule.startsWith('(deny process-exec'))).to.include('"/bin/launchctl"');
    // parentheses close: sandbox-exec refuses the whole profile otherwise
    for (const rule of profile) expect(rule.split('(').length, rule).to.equal(rule.split(')').length);
  });

  it('is the narrower of two levels', () => {
    expect([narrower('home', 'strict'), narrower('workspace', 'off')]).to.deep.equal(['strict', 'workspace']);
  });
});
