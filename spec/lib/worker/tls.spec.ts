import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../../helpers/command.js';
import { selfSigned } from '../../fixtures/certificate.js';
import { Running, Troupe } from '../cli/troupe.js';
import { makeClient, type Client } from '../gateway/fixture.js';

/** A gateway that the network reaches by TLS, behind a certificate authority of one's own: real processes. */
describe('a worker that joins by TLS', function () {
  this.timeout(180_000);
  let troupe: Troupe;
  let worker: Running | undefined;
  let client: Client;
  let url: string;
  let certificate: string;
  const there = (): string => troupe.home('there');

  before(async () => {
    troupe = await Troupe.create();
    certificate = join(troupe.folder, 'cert.pem');
    const key = join(troupe.folder, 'key.pem');
    const made = selfSigned();
    await writeFile(certificate, made.cert);
    await writeFile(key, made.key, { mode: 0o600 });
    const program = join(troupe.folder, 'talk.mjs');
    await writeFile(
      program,
      'fetch(`${process.env.SVC_GATEWAY_URL}/api/auth/state`).then((answer) => answer.text()).then(console.log);',
    );
    const engines = `engines: {talk: {command: [${process.execPath}, ${program}]}}\n`;
    for (const home of ['home', 'there']) await mkdir(troupe.home(home), { mode: 0o700 });
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      `${engines}gateway:\n  tls: {cert: ${certificate}, key: ${key}}\n`,
    );
    await writeFile(join(there(), 'config.yaml'), engines);
    await troupe.start();
    const { port, token, publicUrl = '' } = await troupe.announcement();
    client = makeClient(port, { authorization: `Bearer ${token}` });
    url = publicUrl;
  });
  after(async () => {
    await worker?.kill('SIGKILL');
    await troupe.run('stop', '--now', '--home', troupe.home());
    await troupe.clear();
  });

  /** With the code of an invitation on its standard input. */
  async function begin(env: Readonly<Record<string, string>>) {
    const { code } = (await client.post('/api/workers', { name: 'gpu1' })).body;
    const words = ['worker', '--join', url, '--name', 'gpu1', '--home', there(), '--roots', troupe.folder];
    const child = spawn(process.execPath, [command, ...words], {
      cwd: troupe.folder,
      env: { PATH: process.env['PATH'], HOME: troupe.folder, ...env },
    });
    child.stdin.end(`${code}\n`);
    return new Running(child);
  }

  // It was called a gateway that does not answer
  it('says that the certificate is not trusted here, and what helps', async () => {
    const { code, err } = await (await begin({})).ended;
    expect(code).to.equal(3);
    expect(err).to.equal(
      `The gateway at ${url}/ shows a certificate that this machine does not trust: self-signed certificate. ` +
        'Name the file of its certificate authority in NODE_EXTRA_CA_CERTS.\n',
    );
  });

  // Its agents reached the gateway by no address: they were not told whom this machine trusts
  it('runs turns whose agents reach the gateway by TLS, too', async () => {
    worker = await begin({ NODE_EXTRA_CA_CERTS: certificate });
    await worker.seen(/Connected/);
    const made = await client.post('/api/sessions', { prompt: 'Talk', engine: 'talk', worker: 'gpu1' });
    expect(made.status, made.text).to.equal(201);
    let session = (await client.get(`/api/sessions/${made.body.id}`)).body;
    while (session.status === 'running') {
      await new Promise((resolve) => setTimeout(resolve, 50));
      session = (await client.get(`/api/sessions/${made.body.id}`)).body;
    }
    expect(session.lastError).to.equal(null);
    const { content } = session.messages.findLast(({ role }: { role: string }) => role === 'assistant');
    expect(JSON.parse(content)).to.include({ instance: 'default' });
  });
});
