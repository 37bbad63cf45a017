import { configuredEngines } from '../../../lib/home/engines.js';
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultConfig } from '../../../lib/home/config.js';
import { parseConfig, readConfig } from '../../../lib/home/read-config.js';

describe('config.yaml', () => {
  const refusal = (text: string): string => {
    try {
      parseConfig(text);
    } catch (error) {
      expect(error).to.have.property('code', 'BAD_CONFIG');
      return (error as Error).message;
    }
    return expect.fail(`accepted ${text.slice(0, 60)}`);
  };

  it('may be absent, empty, or name only what differs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'troupe-config-'));
    try {
      const path = join(folder, 'config.yaml');
      expect(await readConfig(path)).to.deep.equal(defaultConfig());
      await writeFile(path, 'gateway:\n  port: 0\n');
      expect((await readConfig(path)).gateway).to.deep.equal({ ...defaultConfig().gateway, port: 0 });
    } finally {
      await rm(folder, { recursive: true });
    }
    for (const text of ['', '# nothing\n', 'gateway:\n  # port: 1\nsessions:\n']) expect(parseConfig(text)).to.deep.equal(defaultConfig());
  });

  it('is closed by default: credentials needed, loopback only, no file access beyond the home', () => {
    expect(defaultConfig().gateway).to.include({ host: '127.0.0.1', authRequired: true, allowFileCustomPaths: false, allowFileOpen: false });
    expect(defaultConfig().agents.token).to.equal('session');
  });

  it('declares command engines by name beside the engines\' own settings', () => {
    const { engines } = parseConfig('engines:\n  default: echo\n  maxProcesses: 2\n  echo:\n    command: [cat, "-u"]\n');
    expect(engines).to.deep.equal({ default: 'echo', maxProcesses: 2, commands: { echo: { command: ['cat', '-u'] } }, claude: {} });
  });

  it('knows the settings of claude, or takes a command of that name in its place', async () => {
    const own = parseConfig('engines:\n  claude:\n    bin: /opt/claude\n    model: opus\n    apiKeyEnv: THE_KEY\n');
    expect(own.engines).to.deep.include({ commands: {}, claude: { bin: '/opt/claude', model: 'opus', apiKeyEnv: 'THE_KEY' } });
    expect(configuredEngines(own, () => undefined).map(({ name }) => name)).to.deep.equal(['claude', 'clerk']);
    const found = await configuredEngines(own, () => undefined)[0]?.discover();
    expect(found).to.include({ available: false, defaultModel: 'opus' });
    const other = parseConfig('engines:\n  claude:\n    command: [cat]\n');
    expect(configuredEngines(other, () => undefined).map(({ name, effortMechanism }) => [name, effortMechanism])).to.deep.equal([['claude', 'none'], ['clerk', 'none']]);
    expect(refusal('engines:\n  claude:\n    apiKeyEnv: sk-secret\n')).to.match(/line 3, engines\.claude\.apiKeyEnv/);
  });

  it('names line and key of every fault', () => {
    expect(refusal('gateway:\n  port: 1\n  authRequire: false\n')).to.match(/line 3, gateway\.authRequire: there is no such setting; did you mean "authRequired"\?/);
    expect(refusal('portal:\n  companyName: x\ngateway:\n  port: "80"\n')).to.match(/line 4, gateway\.port: expected number/);
    expect(refusal('sessions:\n  roots:\n    - /a\n    - b\n')).to.match(/line 4, sessions\.roots\.1: must be an absolute path/);
    expect(refusal('engines:\n  x: {command: []}\n')).to.match(/line 2, engines\.x\.command/);
    expect(refusal('engines:\n  default: clerk\n  X: {command: [a]}\n')).to.match(/line 3, engines\.X/);
    expect(refusal('log:\n  keepDays: 0\nlogging:\n  level: loud\n')).to.match(/line 2, log\.keepDays[^]*line 4, logging\.level/);
    expect(refusal('- a\n')).to.match(/line 1, the whole file/);
  });

  it('takes plain YAML only: no tags, no merge keys, no repeated keys', () => {
    expect(refusal('gateway: !!js/function "x"\n')).to.match(/line 1/);
    expect(refusal('gateway: !custom {}\n')).to.match(/line 1/);
    expect(refusal('gateway:\n  port: 1\n  port: 2\n')).to.match(/line 3.*unique/);
    expect(refusal('base: &b {port: 1}\ngateway:\n  <<: *b\n')).to.match(/gateway\.<</);
    expect(refusal('gateway: [')).to.match(/line 1/);
  });

  it('is not brought down by what makes parsers explode', () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]', ...'bcdefghi'.split('').map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}x]`)].join('\n');
    expect(refusal(bomb)).to.match(/alias/i);
    expect(refusal(`gateway: ${'['.repeat(100_000)}`)).to.match(/nested/);
    expect(refusal(`gateway:\n${Array.from({ length: 20_000 }, (_, depth) => `${' '.repeat(Math.min(depth, 400) + 1)}-`).join('\n')}`)).to.be.a('string');
    expect(refusal(`${'- '.repeat(50_000)}x`)).to.be.a('string');
    expect(refusal('__proto__:\n  port: 1\n')).to.match(/__proto__/);
    expect(({} as Record<string, unknown>)['port']).to.equal(undefined);
  });
});
