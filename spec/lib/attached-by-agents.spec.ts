import { expect } from 'chai';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findSandboxTool } from '../../actors/sandbox/tool.js';
import { Troupe } from './cli/troupe.js';
import { makeClient, type Client } from './gateway/fixture.js';

const tool = await findSandboxTool();
const levels = ['off', 'home', 'workspace', 'strict'] as const;

/**
 * An agent attaches files of its folder by their path, and files by an address. The gateway reads and fetches these,
 * and no sandbox is around it: a confined agent had files attached that are hidden from it, and could give them to a
 * session below it; one without a network had any address fetched.
 */
describe('what an agent attaches', () => {
  let troupe: Troupe;
  let client: Client;
  before(async () => {
    troupe = await Troupe.create();
    const org = join(troupe.home(), 'org', 'desk');
    await mkdir(org, { recursive: true, mode: 0o700 });
    for (const level of levels) {
      const file = `displayName: ${level}\nrank: employee\nsandbox: ${level}\npersona: x\n`;
      await writeFile(join(org, `at-${level}.yaml`), file);
      await mkdir(join(troupe.folder, 'code/projects', level), { recursive: true });
    }
    await mkdir(join(troupe.folder, '.ssh'));
    await writeFile(join(troupe.folder, '.ssh/id'), 'a key');
    await writeFile(join(troupe.folder, 'plan.txt'), 'the plan');
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      'agents: {sandbox: off, quotas: {bytes: {hour: 3000000}}}\nengines: {default: shell, shell: {command: [/bin/sh, -s]}}\n',
    );
    await troupe.start();
    const { port, token } = await troupe.announcement();
    client = makeClient(port, { authorization: `Bearer ${token}` });
  });
  after(() => troupe.clear());

  const attach =
    'attach() { curl -s -X POST -H "authorization: Bearer $SVC_GATEWAY_TOKEN" -H "content-type: application/json" ' +
    '-d "$1" "$SVC_GATEWAY_URL/api/sessions/$SVC_SESSION_ID/attachments"; }\n';

  /** A turn of an employee in a folder below that of the user: its session, and all that it said. */
  async function turn(level: (typeof levels)[number], script: string, folder = `code/projects/${level}`) {
    const { body, status, text } = await client.post('/api/sessions', {
      prompt: attach + script,
      employee: `at-${level}`,
      cwd: join(troupe.folder, folder),
    });
    expect(status, text).to.equal(201);
    for (;;) {
      const { body: now } = await client.get(`/api/sessions/${body.id}`);
      if (['running', 'waiting'].includes(now.status as string)) continue;
      const { messages } = (await client.get(`/api/sessions/${body.id}/messages`)).body;
      const words = messages.slice(1).map(({ content }: { content: string }) => content);
      return { id: body.id as string, text: [now.lastError, ...words].join('\n') };
    }
  }

  for (const level of levels)
    it(`is read from its own folder at the level ${level}`, async () => {
      const { text } = await turn(level, `echo plan > plan.txt; attach '{"path":"plan.txt"}'`);
      expect(text).to.include('"size":5');
    });

  // What came by a path counted for nothing: forty requests put 1.8 GB into the home, of a quota of 268 MB
  it('counts for its quota of bytes, and leaves nothing where that is used up', async () => {
    const once = `attach '{"path":"big"}'; echo; `;
    const { text } = await turn('off', `head -c 2097152 /dev/zero > big; ${once}${once}`);
    expect(text)
      .to.include('"size":2097152')
      .and.to.match(/"AGENT_QUOTA".*"bytes"/);
    const files = await readdir(join(troupe.home(), 'uploads'), { recursive: true });
    expect(files.filter((name) => name.endsWith('-big'))).to.have.length(1);
  });

  if (tool.name === null) return;

  it('is nothing of another session, where a link took the place of its folder', async () => {
    const { body: other } = await client.post('/api/sessions', {
      prompt: 'echo mine > private',
      engine: 'shell',
    });
    const { text } = await turn(
      'home',
      `cd ${troupe.folder}/code; mv projects moved; mkdir projects; ln -s ${other.cwd} projects/home
      readlink projects/home; attach '{"path":"private"}'
      rm -r projects; mv moved projects`,
    );
    expect(text).to.include(other.cwd).and.include('FORBIDDEN').and.not.include('"size"');
  });

  it('is no key of the user whose folder it works in, at the level workspace', async () => {
    const { text } = await turn(
      'workspace',
      `attach '{"path":"plan.txt"}'; attach '{"path":".ssh/id"}'`,
      '.',
    );
    expect(text).to.include('"size":8').and.include('FORBIDDEN').and.not.include('"size":5');
  });

  it('comes from no address but those of named hosts at the level strict', async () => {
    const { text } = await turn('strict', `attach '{"url":"http://198.51.100.1/?found=it"}'`);
    expect(text).to.include('URL_REFUSED').and.include('sandboxHosts');
  });
});
