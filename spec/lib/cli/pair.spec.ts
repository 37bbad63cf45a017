import { expect } from 'chai';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cookiesOf } from '../records/office.js';
import { makeClient } from '../gateway/fixture.js';
import { Troupe } from './troupe.js';

/** The command line, a real gateway, and a browser that is only a client with cookies. */
describe('troupe pair and troupe open', () => {
  let troupe: Troupe;
  before(async () => {
    troupe = await Troupe.create();
    await troupe.start();
  });
  after(() => troupe.clear());

  it('pair prints a code, a link and a QR code, and the code lets one browser in', async () => {
    const { code, out, err } = await troupe.run('pair', '--home', troupe.home());
    expect(code, err).to.equal(0);
    const pairing = /code {2}([A-Z2-9-]{14})/.exec(out)?.[1] ?? '';
    const { port, token } = await troupe.announcement();
    expect(out).to.include(`link  http://127.0.0.1:${port}/pair#code=${pairing}`);
    expect(out.split('\n').filter((line) => /[█▀▄]/.test(line)).length, 'the QR code').to.be.greaterThan(10);
    const client = makeClient(port, {});
    const paired = await client.post('/api/auth/pair', { code: pairing });
    expect(paired.body.device.kind).to.equal('remote');
    expect((await client.get('/api/sessions', { cookie: cookiesOf(paired) })).status).to.equal(200);
    expect(out + err).not.to.include(token);
    expect((await readdir(troupe.home())).filter((name) => name.startsWith('pair-challenge'))).to.deep.equal(
      [],
    );
  });

  it('open prints a link whose fragment lets the browser of this machine in, once', async () => {
    const { code, out, err } = await troupe.run('open', '--print', '--home', troupe.home());
    expect(code, err).to.equal(0);
    const grant = /\/pair#svc-bootstrap=([\w-]{43})$/m.exec(out)?.[1] ?? '';
    const client = makeClient((await troupe.announcement()).port, {});
    const paired = await client.post('/api/auth/bootstrap', {}, { 'x-svc-bootstrap-grant': grant });
    expect(paired.body.device.kind).to.equal('local');
    expect(
      (await client.post('/api/auth/bootstrap', {}, { 'x-svc-bootstrap-grant': grant })).status,
    ).to.equal(401);
    expect(await readFile(join(troupe.home(), 'logs', 'gateway.log'), 'utf8').catch(() => '')).not.to.include(
      grant,
    );
  });

  it('leave their traces in the audit log, which verifies, until someone changes a line', async () => {
    expect((await troupe.run('stop', '--home', troupe.home())).code).to.equal(0);
    const whole = await troupe.run('audit', 'verify', '--home', troupe.home());
    expect(
      [whole.code, /^\d+ lines \(1 to \d+\) in 1 files: whole\.$/m.test(whole.out)],
      whole.out,
    ).to.deep.equal([0, true]);
    const path = join(troupe.home(), 'logs', 'audit', '000001.jsonl');
    const text = await readFile(path, 'utf8');
    expect(text).to.include('"authority":"auth.pair"');
    await writeFile(path, text.replace('"auth.pair"', '"auth.peer"'), { mode: 0o600 });
    const changed = await troupe.run('audit', 'verify', '--home', troupe.home());
    expect([changed.code, /000001\.jsonl line \d+: it was changed\./.test(changed.out)]).to.deep.equal([
      5,
      true,
    ]);
    await writeFile(path, text, { mode: 0o600 });
    await troupe.start();
  });

  it('tells programs in JSON', async () => {
    const { out } = await troupe.run('pair', '--json', '--home', troupe.home());
    expect(JSON.parse(out)).to.have.all.keys('code', 'links', 'expiresAt', 'ttlSeconds');
  });

  it('say when no gateway runs, for the instance that was meant', async () => {
    for (const command of ['pair', 'open']) {
      const { code, err } = await troupe.run(command, '--instance', 'lab');
      expect([code, /troupe start --instance lab/.test(err)], command).to.deep.equal([3, true]);
    }
  });

  it('pair works for a named instance by its name alone, with cookies of its own', async () => {
    const gateway = troupe.begin('start', '--instance', 'lab', '--port', '0');
    await gateway.seen(/Troupe runs at/);
    const { out } = await troupe.run('pair', '--instance', 'lab', '--json');
    const { port } = await troupe.announcement(join(troupe.folder, '.svc-lab'));
    const paired = await makeClient(port, {}).post('/api/auth/pair', { code: JSON.parse(out).code });
    expect(cookiesOf(paired)).to.match(/^svc_auth_lab=.+; svc_device_lab=/);
  });
});
