import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { remoteConfig } from '../../../lib/home/edit-config.js';
import { watchConfig } from '../../../lib/home/live-config.js';
import { parseConfig } from '../../../lib/home/read-config.js';
import type { Json } from '../../../machines/outputs.js';

/**
 * An edit from afar changes what was asked for and nothing beside it. With anchors and aliases a file says one thing
 * in several places: a change of one was a change of all, or took a section of its own out.
 */
describe('remoteConfig', () => {
  let folder: string;
  before(async () => void (folder = await mkdtemp(join(tmpdir(), 'edit-config-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  async function put(text: string, given: Json) {
    const path = join(folder, 'config.yaml');
    await writeFile(path, text);
    const live = watchConfig({ path, initial: parseConfig(text), log: pino({ level: 'silent' }) });
    try {
      const answer = await remoteConfig({ path, live }).edit(given);
      return { answer, text: await readFile(path, 'utf8') };
    } finally {
      live.close();
    }
  }

  for (const text of ['', '# nothing\n', 'sessions:\n#  silenceMinutes: 3\n', 'engines:\n  claude:\n'])
    it(`restores defaults that already hold in ${JSON.stringify(text)}`, async () => {
      const given = { sessions: { silenceMinutes: null }, engines: { claude: { model: null } } };
      const { answer, text: after } = await put(text, given);
      expect(answer).to.include({ status: 'ok' });
      expect(parseConfig(after)).to.deep.equal(parseConfig(text));
    });

  const ofOneEngine = 'engines:\n  claude: &one\n    bin: /opt/own\n    model: opus\n  codex: *one\n';
  const ofOneWord = 'portal:\n  companyName: &word Acme\nengines:\n  llama:\n    command: [*word]\n';
  for (const [what, text, given] of [
    ['takes the program of an engine away', ofOneEngine, { engines: { codex: { model: 'small' } } }],
    ['changes another engine', ofOneEngine, { engines: { claude: { model: 'small' } } }],
    ['names a program by a name', ofOneWord, { portal: { companyName: 'id' } }],
    ['leaves an alias without its anchor', ofOneWord, { portal: { companyName: null } }],
  ] as const)
    it(`refuses a change that by an alias ${what}`, async () => {
      const { answer, text: after } = await put(text, given);
      expect(answer).to.include({ code: 'CONFLICT' });
      expect(after).to.equal(text);
    });

  it('changes what lies beside anchors', async () => {
    const { answer, text } = await put(ofOneWord, { sessions: { turnDeadlineMinutes: 30 } });
    expect(answer).to.include({ status: 'ok' });
    expect(text).to.include('&word Acme').and.include('*word').and.include('turnDeadlineMinutes: 30');
  });

  it('refuses a name that objects give a meaning', async () => {
    const { answer, text } = await put('', JSON.parse('{"engines":{"__proto__":{"model":"x"}}}') as Json);
    expect([answer, text]).to.deep.include('').and.to.have.nested.property('0.code', 'FORBIDDEN');
  });
});
