import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { Troupe, type Ran } from './troupe.js';

interface Report {
  readonly applied: boolean;
  readonly taken: Readonly<Record<string, number>>;
  readonly here: Readonly<Record<string, number>>;
  readonly changed: readonly Remark[];
  readonly leftOut: readonly Remark[];
}
interface Remark {
  readonly area: string;
  readonly why: string;
  readonly count: number;
  readonly examples: readonly string[];
}

/** A home as another server of this API leaves it: SQLite and YAML, brought in through the real command line. */
describe('troupe import --from', function () {
  this.timeout(300_000);
  let troupe: Troupe;
  let source: string;
  const secret = 'outside-of-that-home';
  const photos = ['p1', 'p2', 'p3', 'p4']; // together more than a request takes
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(source, path)), { recursive: true });
    await writeFile(join(source, path), text);
  };
  before(async () => {
    troupe = await Troupe.create();
    source = troupe.home('other');
    await mkdir(join(source, 'sessions'), { recursive: true });
    await furnish();
    await troupe.start();
  });
  after(() => troupe.clear());

  const bring = (...words: string[]): Promise<Ran> =>
    troupe.run('import', '--from', source, ...words, '--home', troupe.home());
  const call = async <Body>(path: string, body?: object): Promise<Body> => {
    const { url, token } = await troupe.announcement();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return (await fetch(new URL(path, url), { headers, ...post })).json() as Promise<Body>;
  };
  /** Every file of that home, with its bytes. */
  async function bytesOf(folder: string): Promise<Readonly<Record<string, string>>> {
    const found: Record<string, string> = {};
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile())
        found[path] = createHash('sha256')
          .update(await readFile(path))
          .digest('hex');
    }
    return found;
  }
  const sessions = () => call<readonly { id: string; title: string }[]>('/api/sessions?limit=0');
  const whys = (remarks: readonly Remark[], area: string): readonly string[] =>
    remarks.filter((one) => one.area === area).map(({ why, examples }) => `${examples.join(', ')}: ${why}`);

  async function furnish(): Promise<void> {
    const database = new sqlite.Database(join(source, 'sessions', 'registry.db'));
    database.exec(`
      CREATE TABLE sessions (id TEXT PRIMARY KEY, engine TEXT, status TEXT, session_key TEXT, employee TEXT, model TEXT,
        title TEXT, total_cost REAL, total_turns INTEGER, parent_session_id TEXT, created_at TEXT, last_activity TEXT,
        archived_at TEXT);
      CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp INTEGER,
        tool_call TEXT, tool_id TEXT, media TEXT, blocks TEXT);
      CREATE TABLE work_items (id TEXT PRIMARY KEY, title TEXT, body TEXT, status TEXT, assignee TEXT, priority INTEGER,
        acceptance TEXT, rounds INTEGER, created_at TEXT);
      CREATE TABLE files (id TEXT PRIMARY KEY, filename TEXT, size INTEGER, mimetype TEXT, path TEXT);
      CREATE TABLE work_item_events (id TEXT, work_item_id TEXT, kind TEXT);
    `);
    const at = '2026-03-04T05:06:07.000Z';
    const add = (table: string, row: readonly (string | number | null)[]): void => {
      database.run(`INSERT INTO ${table} VALUES (${row.map(() => '?').join(', ')})`, [...row]);
    };
    for (const [id, title, parent, archived] of [
      ['5f0c2c1e-0000-4000-8000-000000000001', 'Ferns', null, null],
      ['../../odd id', 'Odd <b>id</b>', '5f0c2c1e-0000-4000-8000-000000000001', null],
      ['5f0c2c1e-0000-4000-8000-000000000003', 'Long', null, null],
      ['5f0c2c1e-0000-4000-8000-000000000004', 'Old', null, at],
    ] as const)
      add('sessions', [
        id,
        'claude',
        'running',
        'web:1',
        'ann',
        'm',
        title,
        1.5,
        2,
        parent,
        at,
        at,
        archived,
      ]);
    const say = (
      id: string,
      session: string,
      role: string,
      content: string,
      more: readonly (string | null)[] = [],
    ) =>
      add('messages', [
        id,
        session,
        role,
        content,
        1_700_000_000_000,
        ...[0, 1, 2, 3].map((n) => more[n] ?? null),
      ]);
    const media = (id: string) =>
      JSON.stringify([{ type: 'file', url: `/api/files/${id}`, name: `${id}.txt` }]);
    say('m1', '5f0c2c1e-0000-4000-8000-000000000001', 'user', 'water the <script>ferns</script>', [
      null,
      null,
      media('f1'),
    ]);
    say('m2', '5f0c2c1e-0000-4000-8000-000000000001', 'assistant', 'Using Bash', ['Bash', 't1']);
    say('m3', '5f0c2c1e-0000-4000-8000-000000000001', 'system', 'out', [null, null, media('f2')]);
    say('strange id', '../../odd id', 'user', 'odd');
    for (let n = 0; n < 5; n += 1)
      say(`l${n}`, '5f0c2c1e-0000-4000-8000-000000000003', 'user', `${n} ${'ü'.repeat(390_000)}`);
    say('l9', '5f0c2c1e-0000-4000-8000-000000000003', 'user', 'x'.repeat(500_000));
    const album = JSON.stringify(photos.map((id) => ({ url: `/api/files/${id}`, name: `${id}.txt` })));
    say('p', '5f0c2c1e-0000-4000-8000-000000000004', 'user', 'photos', [null, null, album]);
    add('files', ['f1', 'fern.txt', 4, 'text/plain', 'uploads/2026-03-04/s/fern.txt']);
    add('files', ['f2', 'secret.txt', 4, 'text/plain', 'files/../../secret.txt']);
    add('work_items', ['ACM-1', 'Water', 'the ferns', 'backlog', 'ann', 3, 'wet', 0, at]);
    add('work_items', ['ACM-2', 'Dug', null, 'done', 'nobody', 2, null, 0, at]);
    add('work_items', ['ACM-3', 'Gone', null, 'cancelled', null, 2, null, 0, at]);
    add('work_items', ['ACM-4', 'Doing', null, 'executing', null, 2, null, 1, at]);
    add('work_items', ['acm/5', 'Odd', null, 'backlog', null, 2, null, 0, at]);
    add('work_item_events', ['e1', 'ACM-1', 'created']);
    database.close();

    await writeFile(join(troupe.folder, 'secret.txt'), secret);
    await put('uploads/2026-03-04/s/fern.txt', 'fern');
    await put('files/f1/fern.txt', 'fern'); // of a message, so of no one else
    await put('files/f9/loose.txt', 'loose');
    for (const photo of photos) await put(`files/${photo}/${photo}.txt`, photo.repeat(450_000));
    const person = (name: string, more = '') =>
      `name: ${name}\ndisplayName: ${name}\ndepartment: garden\nrank: employee\nengine: claude\nmodel: m\n` +
      `persona: |\n  Waters.\n${more}`;
    await put('org/garden/ann.yaml', person('ann', 'cliFlags: [--yolo]\nreportsTo: bob\n'));
    await put('org/garden/bob.yaml', person('bob', 'reportsTo: ann\n'));
    await put('org/garden/cat.yaml', person('cat', 'reportsTo: ghost\nengine_note: x\n'));
    await put('org/garden/bad.yaml', 'rank: boss\n');
    await symlink(join(troupe.folder, 'secret.txt'), join(source, 'org', 'garden', 'eve.yaml'));
    await put('skills/prune/SKILL.md', '---\nname: prune\ndescription: Cuts.\n---\nCut.\n');
    await put('skills/broken/SKILL.md', 'no frontmatter\n');
    await put('knowledge/ferns.md', '# Ferns\n');
    await put('docs/roses.md', '# Roses\n');
    await symlink(join(troupe.folder, 'secret.txt'), join(source, 'docs', 'link.md'));
    const jobs = [
      {
        id: 'nightly',
        name: 'Nightly',
        enabled: true,
        schedule: '0 3 * * *',
        prompt: 'dig',
        employee: 'ann',
      },
      { id: '../up', name: 'Up', enabled: true, schedule: '0 3 * * *', prompt: 'dig' },
      { id: 'workflow:x', name: 'W', schedule: '0 3 * * *', managedBy: 'workflow', workflowId: 'x' },
    ];
    await put('cron/jobs.json', JSON.stringify(jobs));
    const workflow = {
      schemaVersion: 1,
      id: 'watering',
      name: 'watering',
      title: 'Watering',
      version: 3,
      status: 'active',
      owner: 'ann',
      nodes: [
        { id: 'start', type: 'trigger', label: 'Start', trigger: { kind: 'manual' } },
        {
          id: 'water',
          type: 'step',
          label: 'Water',
          actor: { kind: 'employee', ref: 'ann' },
          instructions: 'Water.',
        },
      ],
      edges: [{ id: 'e', from: 'start', to: 'water', kind: 'sequence' }],
    };
    await put('workflow-evidence/workflows/watering.json', JSON.stringify(workflow));
    await put(
      'workflow-evidence/workflows/broken.json',
      '{"id": "broken", "nodes": [{"id": "a", "type": "odd"}]}',
    );
    await put('config.yaml', 'gateway: {port: 1}\n');
  }

  it('previews, takes in, and finds all of it the second time; the other home keeps every byte', async () => {
    const before = await bytesOf(source);
    const preview = await bring();
    expect(preview.err).to.equal('Reading employees and texts …\nReading work items …\nReading sessions …\n');
    expect(preview.out).to.match(/Would be taken: .*3 employees.*4 work items.*4 sessions/);
    expect(preview.out).to.include('Nothing was changed.').and.not.include(secret);
    expect(await sessions()).to.deep.equal([]);

    const first = JSON.parse((await bring('--apply', '--json')).out) as Report;
    expect(first.taken).to.deep.equal({
      employee: 3,
      skill: 1,
      text: 2,
      'work item': 4,
      session: 4,
      file: 4, // f9, and the photos that found no room beside their message
      'cron job': 1,
      workflow: 1,
    });
    const again = JSON.parse((await bring('--apply', '--json')).out) as Report;
    expect(again.taken).to.deep.equal({});
    expect(again.here).to.deep.equal(first.taken);
    expect(await bytesOf(source)).to.deep.equal(before);

    expect(whys(first.leftOut, 'employee')).to.have.length(1);
    expect(whys(first.leftOut, 'skill').join()).to.match(/broken/);
    expect(whys(first.leftOut, 'text')).to.deep.equal([
      'docs/link.md: It has more than 262,144 bytes, or leads elsewhere.',
    ]);
    expect(whys(first.leftOut, 'work item').join()).to.include('acm/5');
    expect(whys(first.leftOut, 'cron job')).to.have.length(2);
    expect(whys(first.leftOut, 'workflow').join()).to.match(/broken/);
    expect(whys(first.leftOut, 'other').join()).to.include('config.yaml').and.include('work_item_events');
    expect(whys(first.changed, 'session').join()).to.include(
      'p2.txt, p3.txt, p4.txt: The attachments of its',
    );
    expect(whys(first.changed, 'employee').join())
      .to.include('cliFlags')
      .and.include('perhaps by way of others');
  });

  it('brings sessions at rest with their messages, tools and files, and follows nothing out of the home', async () => {
    const all = await sessions();
    expect(all.map(({ title }) => title).sort()).to.deep.equal(['Ferns', 'Long', 'Odd <b>id</b>']);
    const ferns = String(all.find(({ title }) => title === 'Ferns')?.id);
    const view = await call<Readonly<Record<string, unknown>>>(`/api/sessions/${ferns}`);
    expect(view).to.include({
      status: 'idle',
      employee: 'ann',
      totalCost: 1.5,
      totalTurns: 2,
      parentSessionId: null,
    });
    interface Said {
      readonly content: string;
      readonly role: string;
      readonly toolCall?: string;
      readonly media?: readonly { readonly url: string }[];
    }
    const saidIn = async (id: string): Promise<readonly Said[]> =>
      (await call<{ messages: readonly Said[] }>(`/api/sessions/${id}/messages?limit=500`)).messages;
    const [, water, tool, lost] = await saidIn(ferns);
    expect(water?.content).to.equal('water the <script>ferns</script>');
    const { url, token } = await troupe.announcement();
    const file = await fetch(new URL(String(water?.media?.[0]?.url), url), {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await file.text()).to.equal('fern');
    expect(tool).to.include({ toolCall: 'Bash', role: 'assistant' });
    expect(lost).to.deep.include({ role: 'notification', content: 'out\n\n[Not imported: f2.txt]' });
    const long = await saidIn(String(all.find(({ title }) => title === 'Long')?.id));
    expect(long.slice(1).map(({ content }) => content.slice(0, 1))).to.deep.equal('01234x'.split(''));
    expect(long.at(-1)?.content).to.have.length(400_000);
  });

  it('brings work items as they were asked for, closed ones closed, and pauses what would run', async () => {
    interface Item {
      readonly title: string;
      readonly status: string;
      readonly assignee: string | null;
      readonly priority: number;
    }
    const { workItems } = await call<{ workItems: readonly { id: string }[] }>('/api/work-items?limit=100');
    const items = await Promise.all(
      workItems.map(async ({ id }) => (await call<{ workItem: Item }>(`/api/work-items/${id}`)).workItem),
    );
    const told = items.map(({ title, status, assignee, priority }) => [title, status, assignee, priority]);
    expect(told.sort(([a = ''], [b = '']) => String(a).localeCompare(String(b)))).to.deep.equal([
      ['Doing', 'backlog', null, 2],
      ['Dug', 'done', null, 2],
      ['Gone', 'cancelled', null, 2],
      ['Water', 'assigned', 'ann', 3],
    ]);
    const [job] = await call<readonly { id: string; enabled: boolean; employee: string }[]>('/api/cron');
    expect(job).to.include({ id: 'nightly', enabled: false, employee: 'ann' });
    expect(await call('/api/workflow-definitions/watering')).to.include({
      status: 'paused',
      title: 'Watering',
    });
    const { employees } = await call<{ employees: readonly { name: string; cliFlags?: unknown }[] }>(
      '/api/org',
    );
    expect(employees.map(({ name }) => name).sort()).to.deep.equal(['ann', 'bob', 'cat']);
    expect(employees.filter(({ cliFlags }) => cliFlags !== undefined)).to.deep.equal([]);
  });

  it('reads what stands in a write-ahead log alone, and refuses a server that runs', async () => {
    const wal = new sqlite.Database(join(source, 'sessions', 'registry.db'));
    wal.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;');
    wal.run(
      'INSERT INTO sessions SELECT ?, engine, status, session_key, NULL, model, ?, 0, 0, NULL, ?, ?, NULL FROM sessions LIMIT 1',
      ['wal-1', 'From the log', '2026-04-04T05:06:07.000Z', '2026-04-04T05:06:07.000Z'],
    );
    const logged = await readFile(join(source, 'sessions', 'registry.db-wal'));
    expect(logged.includes('From the log')).to.equal(true);
    expect((await readFile(join(source, 'sessions', 'registry.db'))).includes('From the log')).to.equal(
      false,
    );
    const report = JSON.parse((await bring('--apply', '--json')).out) as Report;
    expect(report.taken).to.deep.equal({ session: 1 });
    expect((await sessions()).map(({ title }) => title)).to.include('From the log');
    expect((await readFile(join(source, 'sessions', 'registry.db-wal'))).equals(logged)).to.equal(true);
    wal.close();

    await put('gateway.json', JSON.stringify({ port: 1, pid: process.pid }));
    const refused = await bring();
    expect(refused.code).to.equal(2);
    expect(refused.err).to.include(`runs (process ${process.pid}). Stop it first`);
  });

  it('refuses what is no such home, and a database that is none', async () => {
    source = troupe.home();
    expect((await bring()).err).to.include('is no home of another server');
    source = troupe.home('third');
    await put('sessions/registry.db', 'no database at all '.repeat(100));
    const broken = await bring();
    expect([broken.code, broken.err]).to.deep.equal([1, broken.err]);
    expect(broken.err).to.match(/registry\.db cannot be read: /);
  });
});
