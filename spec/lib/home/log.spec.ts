import { expect } from 'chai';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layoutOf } from '../../../lib/home/layout.js';
import { openLog } from '../../../lib/home/log.js';
import { scrub } from '../../../lib/home/scrub.js';

describe('the log', () => {
  const secret = 'Zk3-canary_canary-canary_canary-canary_canar'.slice(0, 43);
  let home: string;
  beforeEach(async () => { home = await mkdtemp(join(tmpdir(), 'log-')); });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('holds no secret, wherever it stood in what was logged, and stays one JSON object per line', async () => {
    const layout = layoutOf({ home });
    const { log, close } = openLog({ level: 'debug', file: true, stdout: false }, layout);
    log.info({ token: secret, deep: { er: { than: { anybody: { thought: [secret] } } } } }, `asked with Bearer ${secret}`);
    log.error({ err: new Error(`refused ${secret}`, { cause: new Error(`Authorization: Bearer ${secret}`) }) }, 'it failed');
    log.warn({ headers: { cookie: `svc_auth=${secret}; svc_device=d_1234567890123456` }, url: `/ws?token=${secret}` }, `SVC_GATEWAY_TOKEN=${secret}`);
    log.info({ code: 'ABCD-EFGH-JKLM', bindings: [`svcwe_${secret}`, `svcwk_${secret}`] }, 'a code');
    log.info({ name: 'two\nlines\r\n{"level":60,"msg":"forged"}' }, 'what a client called itself\n{"forged":true}');
    await close();
    const text = await readFile(layout.log, 'utf8');
    for (const hidden of [secret, 'ABCD-EFGH-JKLM']) expect(text).not.to.include(hidden);
    const lines = text.trimEnd().split('\n').map((line) => JSON.parse(line) as { msg: string });
    expect(lines).to.have.length(5);
    expect(lines.some(({ msg }) => msg === 'forged')).to.equal(false);
    expect((await stat(layout.log)).mode & 0o777).to.equal(0o600);
  });

  it('leaves ids, hashes and words alone', () => {
    const plain = '{"id":"3f1c9d1e-7a4c-4a57-9d53-0c8f1d2f7a10","sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","item":"TRP-1","msg":"the bearer of good news came"}';
    expect(scrub(plain)).to.equal(plain);
  });
});
