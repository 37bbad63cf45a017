import { expect } from 'chai';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Troupe } from './troupe.js';

/**
 * A newcomer's first turn failed with the agent's own "Invalid API key", while the key lay in the terminal's
 * environment and was not passed on, and nothing said so.
 */
describe('logins and environments of engines', () => {
  const key = 'sk-ant-this-value-is-never-shown-0123456789';
  const peer = fileURLToPath(new URL('../../fixtures/agents/claude.js', import.meta.url));
  let troupe: Troupe;
  before(async () => {
    troupe = await Troupe.create();
    await mkdir(troupe.home(), { mode: 0o700 });
    const agent = join(troupe.folder, 'claude');
    await writeFile(agent, `#!/bin/sh\nexec '${process.execPath}' '${peer}' "$@"\n`);
    await chmod(agent, 0o755);
    await settings('');
  });
  after(() => troupe.clear());
  const settings = (more: string): Promise<void> =>
    writeFile(
      join(troupe.home(), 'config.yaml'),
      `gateway: {port: 0}\nengines:\n  claude:\n    bin: ${join(troupe.folder, 'claude')}\n${more}`,
    );
  const doctor = async (env: Readonly<Record<string, string>> = {}): Promise<string> =>
    (await troupe.begin(env, 'doctor', '--home', troupe.home()).ended).out;

  it('are found by doctor without a gateway: what is there, what is missing, what is not passed on', async () => {
    const unused = await doctor({ ANTHROPIC_API_KEY: key });
    expect(unused)
      .to.match(
        /login +claude: no login was found; ANTHROPIC_API_KEY is set for the gateway and not passed on/,
      )
      .and.match(/→ put "apiKeyEnv: ANTHROPIC_API_KEY" under engines\.claude/)
      .and.not.include(key);
    const folder = join(troupe.folder, '.claude');
    await mkdir(folder);
    await writeFile(join(folder, '.credentials.json'), '{}');
    expect(await doctor({ ANTHROPIC_API_KEY: key })).to.match(
      /ok +login +claude: login in ~\/\.claude\/\.credentials\.json; not passed on: ANTHROPIC_API_KEY\n/,
    );
  });

  it('are said at the first turn, and where it fails; only what the settings name is passed on', async () => {
    // The agent makes this folder: below the spec's own, so that no other spec finds it
    const elsewhere = join(troupe.folder, 'nowhere');
    await settings(
      `    env: {HTTPS_PROXY: true, NOT_THERE: true, COLOUR: blue, CLAUDE_CONFIG_DIR: ${elsewhere}}\n`,
    );
    const gateway = troupe.begin(
      { ANTHROPIC_API_KEY: key, HTTPS_PROXY: 'http://127.0.0.1:9', OTHER: 'kept' },
      ...['start', '--home', troupe.home(), '--port', '0'],
    );
    await gateway.seen(/Troupe runs at/);
    const run = (prompt: string) => troupe.run('run', '--engine', 'claude', prompt, '--home', troupe.home());
    const failed = await run('[[fail 401]]');
    expect(failed.code).to.equal(7);
    expect(failed.out + failed.err)
      .to.match(/API Error: 401/)
      .and.match(/ANTHROPIC_API_KEY is set for the gateway and not passed on/)
      .and.match(/put "apiKeyEnv: ANTHROPIC_API_KEY" under engines\.claude/)
      .and.not.include(key);
    const done = await run('[[env HTTPS_PROXY NOT_THERE COLOUR OTHER ANTHROPIC_API_KEY]]');
    expect(done.code).to.equal(0);
    expect(done.out).to.include(
      'HTTPS_PROXY=http://127.0.0.1:9\nNOT_THERE=absent\nCOLOUR=blue\nOTHER=absent\nANTHROPIC_API_KEY=absent',
    );
    const { url, token } = await troupe.announcement();
    const listed = await fetch(new URL('/api/engines', url), {
      headers: { authorization: `Bearer ${token}` },
    });
    const { engines } = (await listed.json()) as { engines: { claude: { access: object } } };
    expect(engines.claude.access).to.deep.include({
      state: 'missing',
      notPassed: ['ANTHROPIC_API_KEY'],
      absent: ['NOT_THERE'],
    });
    // The terminal has no such variables; the gateway that runs is what counts
    expect(await doctor()).to.match(
      /claude: no login was found; ANTHROPIC_API_KEY.*; not set for the gateway: NOT_THERE/,
    );
  });
});
