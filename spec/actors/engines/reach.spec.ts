import { expect } from 'chai';
import { isWithinReach } from '../../../actors/engines/agent/permission.js';

// Under `ask` the real Claude Code read gateway.json unasked: a reader was free wherever it read
describe('what an agent may read unasked', () => {
  const reach = { cwd: '/home/me/project', files: ['/home/me/.svc/files/1/plan.pdf'] };
  const free = (input: unknown): boolean => isWithinReach(input, reach);

  it('is its working folder and the files that came with the messages', () => {
    for (const path of [
      '/home/me/project/a.ts',
      'src/a.ts',
      './a',
      '/home/me/.svc/files/1/plan.pdf',
      'some words',
    ])
      expect(free({ file_path: path }), path).to.equal(true);
  });

  it('is nothing beside, by whatever path', () => {
    for (const path of [
      '/home/me/.svc/gateway.json',
      '/home/me/project/../.svc/gateway.json',
      '../.svc/gateway.json',
      'a/../../.svc',
      '~/.ssh/id',
      'file:///home/me/.svc/gateway.json',
      '/home/me/project-2/a',
    ])
      expect(free([{ path: 'a.ts' }, { nested: { path } }]), path).to.equal(false);
  });
});
