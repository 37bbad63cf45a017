import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInstance, type Instance } from '../../lib/instance.js';
import { makeClient, type Client } from './gateway/fixture.js';

describe('a file that comes with a prompt', () => {
  let home: string;
  let gateway: Instance;
  let operator: Client;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'attachments-'));
    await writeFile(join(home, 'config.yaml'), 'engines: {default: echo, echo: {command: [cat]}}\n');
    gateway = await startInstance({ home, port: 0 });
    const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    operator = makeClient(Number(new URL(gateway.url).port), { authorization: `Bearer ${token}` });
  });
  after(async () => {
    await gateway.close();
    await rm(home, { recursive: true, force: true });
  });

  it('is told to the agent with a place where it can be read', async () => {
    const file = await operator.post('/api/files', {
      content: Buffer.from('the plan').toString('base64'),
      filename: 'plan.txt',
    });
    expect(file.status, file.text).to.equal(201);
    const opened = await operator.post('/api/sessions', { prompt: 'Read it', attachments: [file.body.id] });
    let { body } = await operator.get(`/api/sessions/${opened.body.id}`);
    for (let looks = 0; looks < 2_000 && body.status === 'running'; looks += 1)
      ({ body } = await operator.get(`/api/sessions/${opened.body.id}`));
    const said = String((body.messages as { content: string }[]).at(-1)?.content);
    const [, name, place = '""'] = /- ("plan\.txt"), "text\/plain", 8 bytes: (".*")/.exec(said) ?? [];
    expect(name, said).to.equal('"plan.txt"');
    expect(await readFile(JSON.parse(place) as string, 'utf8')).to.equal('the plan');
  });
});
