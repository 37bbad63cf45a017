import { configuredEngines, engineTools } from '../../../lib/home/engines.js';
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultConfig } from '../../../lib/home/config.js';
import { connectorFaults } from '../../../lib/home/connector-faults.js';
import { connectorTypes } from '../../../lib/home/connector-settings.js';
import { builtInConnectors } from '../../../actors/connectors/built-in.js';
import { inspectConfig, parseConfig, readConfig } from '../../../lib/home/read-config.js';

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
    for (const text of ['', '# nothing\n', 'gateway:\n  # port: 1\nsessions:\n'])
      expect(parseConfig(text)).to.deep.equal(defaultConfig());
  });

  it("says which of the gateway's and of a program's own tools an engine's agents have", () => {
    const text =
      'engines:\n  claude: { tools: reviewer, ownTools: [Read, Grep] }\n  codex: { tools: false }\n';
    expect(engineTools(parseConfig(text))).to.deep.equal({ claude: 'reviewer', codex: false });
    expect(parseConfig(text).engines.claude.ownTools).to.deep.equal(['Read', 'Grep']);
    expect(refusal('engines:\n  gemini: { tools: janitor }\n')).to.include('engines.gemini.tools');
    expect(refusal('engines:\n  claude: { ownTools: ["--mcp-config"] }\n')).to.include('the name of a tool');
    expect(refusal('engines:\n  codex: { ownTools: [Read] }\n')).to.include('ownTools');
  });

  it('says how long results of tools may be kept', () => {
    const given = (days: string): string => `sessions:\n  keepToolOutput: ${days}\n`;
    expect(refusal(given('forever'))).to.include('must be a number of days, 1 to 36500, or keep');
    expect(refusal(given('0'))).to.include('sessions.keepToolOutput');
    expect(parseConfig(given('keep')).sessions.keepToolOutput).to.equal('keep');
  });

  it('is closed by default: credentials needed, loopback only, no file access beyond the home', () => {
    expect(defaultConfig().gateway).to.include({
      host: '127.0.0.1',
      authRequired: true,
      allowFileCustomPaths: false,
      allowFileOpen: false,
    });
    expect(defaultConfig().agents.token).to.equal('session');
  });

  it("declares command engines by name beside the engines' own settings", () => {
    const { engines } = parseConfig(
      'engines:\n  default: echo\n  maxProcesses: 2\n  echo:\n    command: [cat, "-u"]\n',
    );
    expect(engines).to.deep.equal({
      default: 'echo',
      maxProcesses: 2,
      commands: { echo: { command: ['cat', '-u'] } },
      claude: {},
      codex: {},
      clerk: {},
      presets: {},
      families: {},
    });
  });

  it('knows the settings of claude, or takes a command of that name in its place', async () => {
    const own = parseConfig(
      'engines:\n  claude:\n    bin: /opt/claude\n    model: opus\n    apiKeyEnv: THE_KEY\n',
    );
    expect(own.engines).to.deep.include({
      commands: {},
      claude: { bin: '/opt/claude', model: 'opus', apiKeyEnv: 'THE_KEY' },
    });
    expect(configuredEngines(own, () => undefined, 'engines').map(({ name }) => name)).to.deep.equal([
      'claude',
      'codex',
      'gemini',
      'qwen',
      'opencode',
      'copilot',
      'clerk',
    ]);
    const found = await configuredEngines(own, () => undefined, 'engines')[0]?.discover();
    expect(found).to.include({ available: false, defaultModel: 'opus' });
    const other = parseConfig('engines:\n  claude:\n    command: [cat]\n');
    expect(
      configuredEngines(other, () => undefined, 'engines')
        .map(({ name, effortMechanism }) => [name, effortMechanism])
        .slice(0, 1),
    ).to.deep.equal([['claude', 'none']]);
    expect(refusal('engines:\n  claude:\n    apiKeyEnv: sk-secret\n')).to.match(
      /:3, engines\.claude\.apiKeyEnv/,
    );
  });

  it('knows agents of the Agent Client Protocol: presets by their names, others under names of their own', async () => {
    const config = parseConfig(
      'engines:\n  gemini: {bin: /opt/gemini, model: gemini-2.5-flash, apiKeyEnv: THE_KEY}\n  qwen: {command: [cat]}\n  acp:\n    goose: {command: goose, args: [acp], models: [one, two]}\n',
    );
    const engines = configuredEngines(config, () => undefined, 'engines');
    expect(engines.map(({ name }) => name)).to.deep.equal([
      'qwen',
      'goose',
      'claude',
      'codex',
      'gemini',
      'opencode',
      'copilot',
      'clerk',
    ]);
    const facts = Object.fromEntries(
      await Promise.all(engines.map(async (engine) => [engine.name, await engine.discover()] as const)),
    );
    expect(facts['gemini']).to.include({ defaultModel: 'gemini-2.5-flash', available: false });
    expect(facts['goose']?.models.map(({ id }) => id)).to.deep.equal(['default', 'one', 'two']);
    expect(refusal('engines:\n  gemini:\n    apiKeyEnv: sk-secret\n')).to.match(
      /:3, engines\.gemini\.apiKeyEnv/,
    );
    expect(refusal('engines:\n  acp:\n    goose:\n      comand: goose\n')).to.match(/engines\.acp\.goose/);
    expect(refusal('engines:\n  acp:\n    Goose: {command: goose}\n')).to.match(/:3, engines\.acp\.Goose/);
    expect(refusal('engines:\n  echo: {command: [cat]}\n  acp:\n    echo: {command: goose}\n')).to.match(
      /:4, engines\.acp\.echo: there are two engines named "echo"/,
    );
  });

  it('knows OpenAI-compatible endpoints, each an engine of its own', async () => {
    const config = parseConfig(
      'engines:\n  openai:\n    local: {baseUrl: "http://127.0.0.1:1/v1"}\n    far:\n      baseUrl: https://model.invalid/v1\n      apiKeyEnv: CONFIG_SPEC_ABSENT\n      models: [one, two]\n      efforts: [low]\n',
    );
    const [local, far] = configuredEngines(config, () => undefined, 'engines');
    expect([local?.name, far?.name, far?.effortMechanism]).to.deep.equal([
      'local',
      'far',
      'reasoning_effort',
    ]);
    expect(await local?.discover()).to.include({ available: false });
    expect(await far?.discover())
      .to.include({ available: false, defaultModel: 'one' })
      .and.have.property('reason')
      .that.includes('CONFIG_SPEC_ABSENT');
    expect(refusal('engines:\n  openai:\n    local:\n      baseUrl: file:///etc\n')).to.match(
      /:4, engines\.openai\.local\.baseUrl/,
    );
    expect(refusal('engines:\n  openai:\n    local:\n      baseUrl: http://me:secret@a/v1\n'))
      .to.match(/:4, engines\.openai\.local\.baseUrl: must not hold a user/)
      .and.not.include('secret');
    expect(
      refusal('engines:\n  openai:\n    local:\n      baseUrl: http://a/v1\n      apiKey: sk-1\n'),
    ).to.match(/:5, engines\.openai\.local\.apiKey: unknown setting/);
    expect(
      refusal('engines:\n  acp:\n    one: {command: a}\n  openai:\n    one: {baseUrl: "http://a"}\n'),
    ).to.match(/two engines named "one"/);
  });

  it('names line and key of every fault', () => {
    expect(refusal('gateway:\n  port: 1\n  authRequire: false\n')).to.match(
      /:3, gateway\.authRequire: unknown setting; did you mean "authRequired"\?/,
    );
    expect(refusal('portal:\n  companyName: x\ngateway:\n  port: "80"\n')).to.match(
      /:4, gateway\.port: expected number/,
    );
    expect(refusal('sessions:\n  roots:\n    - /a\n    - b\n')).to.match(
      /:4, sessions\.roots\.1: must be an absolute path/,
    );
    expect(refusal('engines:\n  x: {command: []}\n')).to.match(/:2, engines\.x\.command/);
    expect(refusal('engines:\n  default: clerk\n  X: {command: [a]}\n')).to.match(/:3, engines\.X/);
    expect(refusal('log:\n  keepDays: 0\nlogging:\n  level: loud\n')).to.match(
      /:2, log\.keepDays[^]*:4, logging\.level/,
    );
    expect(refusal('- a\n')).to.match(/:1, the whole file/);
  });

  it('takes plain YAML only: no tags, no merge keys, no repeated keys', () => {
    expect(refusal('gateway: !!js/function "x"\n')).to.match(/:1/);
    expect(refusal('gateway: !custom {}\n')).to.match(/:1/);
    expect(refusal('gateway:\n  port: 1\n  port: 2\n')).to.match(/:3.*unique/);
    expect(refusal('base: &b {port: 1}\ngateway:\n  <<: *b\n')).to.match(/gateway\.<</);
    expect(refusal('gateway: [')).to.match(/:1/);
  });

  it('is not brought down by what makes parsers explode', () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefghi'
        .split('')
        .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}x]`),
    ].join('\n');
    expect(refusal(bomb)).to.match(/alias/i);
    expect(refusal(`gateway: ${'['.repeat(100_000)}`)).to.match(/nested/);
    expect(
      refusal(
        `gateway:\n${Array.from({ length: 20_000 }, (_, depth) => `${' '.repeat(Math.min(depth, 400) + 1)}-`).join('\n')}`,
      ),
    ).to.be.a('string');
    expect(refusal(`${'- '.repeat(50_000)}x`)).to.be.a('string');
    expect(refusal('__proto__:\n  port: 1\n')).to.match(/__proto__/);
    expect(({} as Record<string, unknown>)['port']).to.equal(undefined);
  });

  it('hides no fault behind another, and has the settings that are left', () => {
    // Only the first of several unknown keys was named, engines were not looked at where `default` was wrong
    const { faults, settings } = inspectConfig(
      'gatway: 1\nprtal: 2\nengines:\n  default: 3\n  claud: {model: a}\n  claude: {modle: b}\nsessions:\n  roots: [a]\n' +
        'backup: {keep: 0}\nlog: {keepDays: 3}\n',
    );
    expect(faults.map(({ line, key, what }) => `${line} ${key}: ${what}`)).to.have.members([
      '1 gatway: unknown setting; did you mean "gateway"?',
      '2 prtal: unknown setting; did you mean "portal"?',
      '4 engines.default: expected string, received number.',
      '5 engines.claud: unknown setting; did you mean "claude"?',
      '6 engines.claude.modle: unknown setting; did you mean "model"?',
      '8 sessions.roots.0: must be an absolute path.',
      '9 backup.keep: Too small: expected number to be >=1.',
    ]);
    expect(settings?.log.keepDays).to.equal(3);
    expect(settings?.backup.keep).to.equal(7);
  });

  it('knows the settings of each connector type as the connectors read them', async () => {
    // Two descriptions of the same settings, held together here
    const minimal: Readonly<Record<string, object>> = {
      slack: { botToken: 'xoxb-1' },
      discord: { botToken: 'token' },
      telegram: { botToken: '1:a' },
      email: { host: '127.0.0.1', from: 'bot@example.org', tls: 'none' },
      webhook: { url: 'http://127.0.0.1:9/', secret: 's'.repeat(16) },
    };
    expect(Object.keys(connectorTypes)).to.deep.equal(builtInConnectors.map(({ type }) => type));
    for (const connector of builtInConnectors) {
      const settings = minimal[connector.type] ?? {};
      const given = { connectors: { instances: [{ name: 'a', type: connector.type, ...settings }] } };
      expect(connectorFaults(given), connector.type).to.deep.equal([]);
      const link = await connector.open(settings as never, new AbortController().signal);
      await link.close();
      for (const member of Object.keys(settings).filter((name) => name !== 'tls')) {
        const { [member]: _, ...less } = settings as Record<string, string>;
        const lacking = { connectors: { instances: [{ name: 'a', type: connector.type, ...less }] } };
        expect(connectorFaults(lacking).map(({ key }) => key)).to.deep.equal([
          `connectors.instances.0.${member}`,
        ]);
        const opened = await connector.open(less as never, new AbortController().signal).then(
          () => 'opened',
          () => 'refused',
        );
        expect(opened, `${connector.type} without ${member}`).to.equal('refused');
      }
    }
  });
});
