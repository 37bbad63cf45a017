import { expect } from 'chai';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInstance, type Instance } from '../../../lib/instance.js';
import { makeClient, poll } from '../gateway/fixture.js';

/**
 * A whole gateway with a real child process that tells all it was given: the operator's token must be nowhere
 * in it.
 */
describe("the operator's token", () => {
  let home: string;
  let served: Instance;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'canary-'));
    await writeFile(
      join(home, 'config.yaml'),
      [
        'engines:',
        '  default: spy',
        '  spy:',
        '    command: ["/bin/sh", "-c", "cat > /dev/null; env; echo spelled=$(echo $SVC_GATEWAY_TOKEN | sed s/./\\\\&,/g); cat /proc/self/cmdline /proc/$PPID/cmdline; ls -la ."]',
        '',
      ].join('\n'),
    );
    served = await startInstance({ home, port: 0 });
  });
  after(async () => {
    await served.close();
    await rm(home, { recursive: true, force: true });
  });

  it("reaches no child: not its environment, argv, files or transcript; and the child's own token dies with it", async () => {
    const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    const port = Number(new URL(served.url).port);
    const operator = makeClient(port, { authorization: `Bearer ${token}` });
    const { body } = await operator.post('/api/sessions', { prompt: 'tell me all' });
    const done = await poll(
      () => operator.get(`/api/sessions/${body.id}`),
      (answer) => answer.body.status === 'idle',
    );
    const told = done.body.messages.at(-1).content as string;
    expect(told, 'the spy has looked').to.include(`SVC_SESSION_ID=${body.id}`);
    expect(done.text).not.to.include(token);

    expect(told, 'its own is taken out where it is said plainly').to.include('SVC_GATEWAY_TOKEN=[secret]');
    const own = (/spelled=(\S+)/.exec(told)?.[1] ?? '').replaceAll(',', '');
    expect(own).to.have.lengthOf(43).and.not.equal(token);
    expect((await makeClient(port, { authorization: `Bearer ${own}` }).get('/api/sessions')).status).to.equal(
      401,
    );
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await makeClient(port, { authorization: `Bearer ${own}` }).post('/mcp', list)).status).to.equal(
      401,
    );

    const holders: string[] = [];
    for (const name of await readdir(home, { recursive: true })) {
      const path = join(home, name);
      if ((await stat(path)).isFile() && (await readFile(path)).includes(token)) holders.push(name);
    }
    expect(holders).to.deep.equal(['gateway.json']);
  });
});
