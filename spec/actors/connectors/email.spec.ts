import { expect } from 'chai';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { email } from '../../../actors/connectors/email.js';
import { connectorContract } from '../../../lib/testing/connector-contract.js';

const message = { channel: 'ann@example.org', text: 'Hello', thread: null, key: 'd-1' };
const never = new AbortController().signal;

/** A real SMTP server on loopback; `got` are the mails as they came over the wire. */
async function mailServer(options: SMTPServerOptions = {}) {
  const got: { readonly to: string; readonly raw: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      let raw = '';
      stream
        .on('data', (chunk: Buffer) => {
          raw += chunk.toString('utf8');
        })
        .on('end', () => {
          got.push({ to: session.envelope.rcptTo.map(({ address }) => address).join(), raw });
          done();
        });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  return {
    got,
    port: (server.server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
      }),
  };
}

/** The text of a mail, out of its transfer encoding. */
function textIn(raw: string): string {
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  const body = rest.join('\r\n\r\n');
  if (/base64/i.test(head))
    return Buffer.from(body, 'base64').toString('utf8').replaceAll('\r\n', '\n').trimEnd();
  if (/quoted-printable/i.test(head)) {
    const bytes = body
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n').trimEnd();
  }
  return body.replaceAll('\r\n', '\n').trimEnd();
}

describe('email', () => {
  let far: Awaited<ReturnType<typeof mailServer>>;
  beforeEach(async () => {
    far = await mailServer();
  });
  afterEach(() => far.close());
  const settings = (over = {}) => ({
    host: '127.0.0.1',
    port: far.port,
    tls: 'none',
    from: 'Troupe <troupe@example.org>',
    ...over,
  });

  connectorContract('email', {
    connector: () => email,
    channel: 'ann@example.org',
    settings,
    received: () => far.got.map(({ raw }) => textIn(raw)),
    brokenSettings: () => ({ host: '127.0.0.1', tls: 'none' }),
    absentSettings: () => ({ host: '127.0.0.1', port: 1, tls: 'none', from: 'troupe@example.org' }),
  });

  it('writes to one address, with the thread as its subject and a name by which a copy is recognised', async () => {
    const link = await email.open(settings(), never);
    expect(await link.send({ ...message, thread: 'Weekly report' }, never)).to.deep.equal({
      outcome: 'sent',
      messageId: '<d-1@troupe.invalid>',
    });
    expect(far.got[0]?.to).to.equal('ann@example.org');
    expect(far.got[0]?.raw)
      .to.match(/^Subject: Weekly report\r$/m)
      .and.match(/^Message-ID: <d-1@troupe\.invalid>\r$/m)
      .and.match(/^Auto-Submitted: auto-generated\r$/m);
  });

  it('lets no channel, thread or text become another recipient or header', async () => {
    const link = await email.open(settings(), never);
    for (const channel of [
      'ann@example.org, bob@example.org',
      'Ann <ann@example.org>',
      'ann@example.org\r\nBcc: eve@example.org',
      'ann',
      '@',
      'a b@example.org',
    ]) {
      expect(await link.send({ ...message, channel }, never), channel).to.have.property('outcome', 'failed');
    }
    await link.send(
      { ...message, thread: 'Hi\r\nBcc: eve@example.org', text: '.\r\nRCPT TO:<eve@example.org>' },
      never,
    );
    expect(far.got).to.have.lengthOf(1);
    expect(far.got[0]?.to).to.equal('ann@example.org');
    expect(far.got[0]?.raw).not.to.match(/^Bcc:/m);
  });

  it('writes only to whom the configuration allows', async () => {
    const link = await email.open(settings({ allowTo: ['@example.org', 'carol@example.com'] }), never);
    expect(await link.send(message, never)).to.have.property('outcome', 'sent');
    expect(await link.send({ ...message, channel: 'Carol@example.com' }, never)).to.have.property(
      'outcome',
      'sent',
    );
    expect(await link.send({ ...message, channel: 'eve@evil.example' }, never)).to.have.property(
      'outcome',
      'failed',
    );
    expect(await link.send({ ...message, channel: 'eve@notexample.org' }, never)).to.have.property(
      'outcome',
      'failed',
    );
  });

  it('tells a refusal from what no one can know', async () => {
    const refusing = await mailServer({
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error('No such user here'), { responseCode: 550 })),
    });
    const silent = await mailServer({
      onData: (stream) => {
        stream.resume();
      },
      closeTimeout: 1,
    });
    const first = await (
      await email.open({ ...settings(), port: refusing.port }, never)
    ).send(message, never);
    expect(first).to.have.property('outcome', 'failed');
    expect(JSON.stringify(first)).to.include('No such user here');
    const link = await email.open({ ...settings(), port: silent.port, timeoutSeconds: 0.5 }, never);
    expect(await link.send(message, never)).to.have.property('outcome', 'unknown');
    await refusing.close();
    await silent.close();
  });

  it('logs in with a secret from elsewhere, and says in a sentence that it was not let in', async () => {
    const guarded = await mailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        password === 'open sesame' ? done(null, { user: username }) : done(new Error('Invalid login')),
    });
    process.env['SPEC_MAIL_PASSWORD'] = 'open sesame';
    const known = await email.open(
      { ...settings(), port: guarded.port, user: 'troupe', password: { env: 'SPEC_MAIL_PASSWORD' } },
      never,
    );
    await known.probe(never);
    expect(await known.send(message, never)).to.have.property('outcome', 'sent');
    process.env['SPEC_MAIL_PASSWORD'] = 'wrong sesame';
    const unknown = await email.open(
      { ...settings(), port: guarded.port, user: 'troupe', password: { env: 'SPEC_MAIL_PASSWORD' } },
      never,
    );
    const reason = await unknown.probe(never).then(
      () => 'in',
      (error: Error) => error.message,
    );
    expect(reason).to.include('EAUTH').and.not.include('sesame');
    delete process.env['SPEC_MAIL_PASSWORD'];
    const unset = await email
      .open({ ...settings(), user: 'troupe', password: { env: 'SPEC_MAIL_PASSWORD' } }, never)
      .then(
        () => 'opened',
        (error: Error) => error.message,
      );
    expect(unset).to.include('SPEC_MAIL_PASSWORD').and.include('not set');
    await guarded.close();
  });

  it('sends nothing in the open: no plain connection to another machine, none to a server that offers no TLS', async () => {
    const plain = await email
      .open({ host: 'mail.example.org', tls: 'none', from: 'a@b.example' }, never)
      .then(
        () => 'opened',
        (error: Error) => error.message,
      );
    expect(plain).to.include('on this machine only');
    const link = await email.open(settings({ tls: 'required' }), never);
    expect(await link.send(message, never)).to.have.property('outcome', 'failed');
    expect(far.got).to.have.lengthOf(0);
  });
});
