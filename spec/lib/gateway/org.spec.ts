import { expect } from 'chai';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { announceFact } from '../../../lib/records/records.js';
import { poll, watch } from './fixture.js';
import { openOffice, type Office } from '../records/office.js';

const company = {
  'org/board/department.yaml': 'displayName: The Board\ndescription: Decides.\n',
  'org/board/chief.yaml': 'displayName: Chief\nrank: executive\npersona: Leads.\n',
  'org/build/department.yaml': '',
  'org/build/bob.yaml': 'rank: manager\nreportsTo: chief\n',
  'org/build/ann.yaml': [
    '# Ann, since spring',
    'displayName: Ann   # as she signs',
    'rank: employee',
    '',
    '# her manager',
    'reportsTo: bob',
    'engine: pen',
    'effortLevel: "low"',
    'persona: |',
    '  Writes tests.',
    '  And reads them.',
    'shoeSize: 38',
    '',
  ].join('\n'),
};

describe('/api/org', () => {
  let office: Office;
  beforeEach(async () => {
    office = await openOffice(company);
  });
  afterEach(() => office.close());
  const patch = (name: string, body: unknown) =>
    office.operator.call('PATCH', `/api/org/employees/${name}`, body);
  const annFile = () => join(office.layout.org, 'build', 'ann.yaml');

  it('retires an employee whom no one reports to, and keeps the file as it is', async () => {
    const before = await readFile(annFile(), 'utf8');
    const refused = await office.operator.call('DELETE', '/api/org/employees/bob');
    expect(refused.status).to.equal(409);
    expect(refused.body.error).to.equal('ann reports to bob: name another manager there first.');
    const heard = await office.socket();
    const done = await office.operator.call('DELETE', '/api/org/employees/ann');
    expect(done.body).to.deep.equal({ status: 'ok', file: '.retired/build/ann.yaml' });
    await heard.until(({ event }) => event === 'org:changed');
    heard.ws.close();
    expect((await office.operator.get('/api/org/employees/ann')).status).to.equal(404);
    expect(await readFile(join(office.layout.org, '.retired/build/ann.yaml'), 'utf8')).to.equal(before);
    // Hired again, and retired again: the first file stays
    await writeFile(annFile(), 'rank: employee\n');
    await office.records.roster.reload();
    const again = await office.operator.call('DELETE', '/api/org/employees/ann');
    expect(again.body.file).to.equal('.retired/build/ann.2.yaml');
    expect(await readFile(join(office.layout.org, '.retired/build/ann.yaml'), 'utf8')).to.equal(before);
  });

  it('shows departments, employees from the top down, and the hierarchy', async () => {
    const { status, body } = await office.operator.get('/api/org');
    expect(status).to.equal(200);
    expect(body.departments).to.deep.equal(['board', 'build']);
    expect(body.departmentDetails[0]).to.deep.equal({
      name: 'board',
      displayName: 'The Board',
      description: 'Decides.',
    });
    expect(body.hierarchy).to.deep.equal({ root: 'chief', sorted: ['chief', 'bob', 'ann'], warnings: [] });
    const [, , ann] = body.employees;
    expect(ann).to.include({
      name: 'ann',
      role: 'Writes tests.',
      parentName: 'bob',
      depth: 2,
      engine: 'pen',
      effortLevel: 'low',
      model: null,
    });
    expect(ann).not.to.have.property('persona');
    expect(ann).not.to.have.property('shoeSize');
  });

  // Found by the fuzzer: indented, a board of many short members came out longer than what is read again, and
  // every later read was a 500.
  it('takes no board that it could not read again, and says so of one that lies there', async () => {
    const path = '/api/org/departments/build/board';
    expect((await office.operator.call('PUT', path, [{ id: 1 }])).status).to.equal(200);
    const long = Array.from({ length: 150_000 }, () => [1]);
    const refused = await office.operator.call('PUT', path, long);
    expect(refused.status).to.equal(413);
    expect(refused.body.code).to.equal('PAYLOAD_TOO_LARGE');
    expect((await office.operator.get(path)).body).to.deep.equal([{ id: 1 }]);
    await writeFile(join(office.layout.org, 'build', 'board.json'), ' '.repeat(1_100_000));
    const unread = await office.operator.get(path);
    expect(unread.status).to.equal(409);
    expect(unread.text).not.to.include(office.layout.home);
  });

  it('shows one employee with the whole persona, and 404 for no one', async () => {
    const { body } = await office.operator.get('/api/org/employees/ann');
    expect(body).to.deep.include({
      persona: 'Writes tests.\nAnd reads them.\n',
      chain: ['chief', 'bob', 'ann'],
      reportsTo: 'bob',
    });
    for (const name of ['nobody', '__proto__', 'constructor', '..%2f..%2fconfig'])
      expect((await office.operator.get(`/api/org/employees/${name}`)).status, name).to.equal(404);
  });

  it('lets agents read and not write', async () => {
    const agent = await office.agent({ employee: 'ann' });
    expect((await agent.get('/api/org')).status).to.equal(200);
    expect((await agent.get('/api/org/departments/build/board')).status).to.equal(200);
    expect((await agent.call('PATCH', '/api/org/employees/ann', { rank: 'executive' })).status).to.equal(403);
    expect((await agent.call('PUT', '/api/org/departments/build/board', [])).status).to.equal(403);
    expect((await office.client().get('/api/org')).status).to.equal(401);
  });

  it('sets a damaged file aside with its reason, and loads the rest', async () => {
    const bombs: Record<string, string> = {
      'org/build/torn.yaml': 'rank: [manager\n',
      'org/build/boss.yaml': 'rank: boss\n',
      'org/build/tag.yaml': 'rank: !!js/function "x"\n',
      'org/build/laughs.yaml': `a: &a [${'x,'.repeat(9)}x]\n${'bcdefg'
        .split('')
        .map((name, place) => `${name}: &${name} [${`*${'abcdef'[place]},`.repeat(9)}]`)
        .join('\n')}\n`,
      'org/build/deep.yaml': '['.repeat(10_000),
      'org/build/dashes.yaml': '- '.repeat(50_000),
      'org/build/list.yaml': '- a\n',
      'org/build/again.yaml': 'name: ann\n',
      'org/build/.hidden.yaml': 'rank: employee\n',
    };
    for (const [path, content] of Object.entries(bombs)) await office.put(path, content);
    await symlink(annFile(), join(office.layout.org, 'build', 'link.yaml'));
    await office.records.roster.reload();
    const { body } = await office.operator.get('/api/org');
    expect(body.employees.map(({ name }: { name: string }) => name)).to.deep.equal(['chief', 'bob', 'ann']);
    const reasons = new Map(
      body.setAside.map(({ file, reason }: { file: string; reason: string }) => [file.split('/')[1], reason]),
    );
    expect([...reasons.keys()]).to.have.members([
      'torn.yaml',
      'boss.yaml',
      'tag.yaml',
      'laughs.yaml',
      'deep.yaml',
      'dashes.yaml',
      'list.yaml',
      'link.yaml',
      'again.yaml',
    ]);
    expect(reasons.get('boss.yaml')).to.include('invalid rank "boss"');
  });

  it('says where a file belongs that lies in no department, and sees a department in which no one is yet', async () => {
    await office.put('org/dan.yaml', 'rank: employee\n'); // it was ignored without a word
    await mkdir(join(office.layout.org, 'sales'));
    await office.records.roster.reload();
    const { body } = await office.operator.get('/api/org');
    expect(body.setAside).to.deep.equal([
      { file: 'dan.yaml', reason: 'it is not in a department folder: move it to org/<department>/dan.yaml' },
    ]);
    expect(body.departments).to.deep.equal(['board', 'build', 'sales']);
    await rename(join(office.layout.org, 'dan.yaml'), join(office.layout.org, 'sales', 'dan.yaml'));
    await office.records.roster.reload();
    expect((await office.operator.get('/api/org')).body).to.deep.include({ setAside: [] });
    expect((await office.operator.get('/api/org/employees/dan')).body.department).to.equal('sales');
  });

  it('notices files that change, tells watchers once, and decisions follow', async () => {
    const socket = await office.socket();
    await office.put('org/sales/cat.yaml', 'rank: employee\n');
    await socket.until(({ event }) => event === 'org:changed');
    await poll(
      () => office.operator.get('/api/org'),
      ({ body }) => body.employees.length === 4,
    ); // the folder may be noticed before the file in it
    expect((await office.operator.get('/api/org')).body.departments).to.deep.equal([
      'board',
      'build',
      'sales',
    ]);
    expect((await office.operator.post('/api/work-items', { title: 'x', assignee: 'cat' })).status).to.equal(
      201,
    );
    await rm(join(office.layout.org, 'sales'), { recursive: true });
    await poll(
      () => office.operator.get('/api/org'),
      ({ body }) => body.departments.length === 2,
    );
    expect(
      (await office.operator.post('/api/work-items', { title: 'x', assignee: 'cat' })).body.code,
    ).to.equal('UNKNOWN_EMPLOYEE');
  });

  it('is told of to agents too, who read it; what else the home tells is not', async () => {
    const agent = await office.agent();
    const socket = await office.socket(agent.headers);
    await announceFact(office.supervisor, 'config:reloaded', { applied: ['secret.key'] });
    await office.put('org/build/ben.yaml', 'rank: employee\n');
    await socket.until(({ event }) => event === 'org:changed');
    const again = await watch(`ws://127.0.0.1:${office.port}/ws?since=0`, agent.headers);
    await again.until(({ event }) => event === 'org:changed');
    again.ws.terminate();
    for (const { frames } of [socket, again])
      expect(frames.some(({ event }) => event.startsWith('config:'))).to.equal(false);
  });

  it('is judged at decision time: a manager who lost the post cannot decide any more', async () => {
    const { body } = await office.operator.post('/api/work-items', { title: 'Ship', assignee: 'ann' });
    await office.operator.post(`/api/work-items/${body.workItem.id}/approval/request`, {
      request: 'May I?',
      target: 'bob',
    });
    const decide = () =>
      office.operator.post(`/api/work-items/${body.workItem.id}/approval?dryRun=true`, {
        decision: 'approve',
      });
    expect((await decide()).body.refusal.code).to.equal('NOT_ROUTED');
    expect((await patch('ann', { reportsTo: 'chief' })).status).to.equal(200);
    const why = (await office.operator.get(`/api/inspect/actors/work-item/${body.workItem.id}/why`)).body;
    expect(why.next.find(({ event }: { event: string }) => event === 'approval.decide').allowed).to.equal(
      false,
    );
    expect(office.records.roster.value?.employees.find(({ name }) => name === 'ann')?.reportsTo).to.equal(
      'chief',
    );
  });

  it("gives an employee's engine, model and effort to the sessions that are opened for them", async () => {
    const { body } = await office.operator.post('/api/sessions', { prompt: 'hello', employee: 'ann' });
    expect(body).to.include({ engine: 'pen', effortLevel: 'low', employee: 'ann' });
  });

  describe('PATCH', () => {
    it('changes the file and nothing else in it: comments, order, quotes and outsiders stay', async () => {
      const socket = await office.socket();
      const { status, body } = await patch('ann', {
        displayName: 'Ann B.',
        rank: 'senior',
        monthlyBudgetUsd: 50,
        effortLevel: 'high',
      });
      expect([status, body.status]).to.deep.equal([200, 'ok']);
      expect(body.employee).to.include({ displayName: 'Ann B.', rank: 'senior', monthlyBudgetUsd: 50 });
      expect(await readFile(annFile(), 'utf8')).to.equal(
        [
          '# Ann, since spring',
          'displayName: Ann B. # as she signs',
          'rank: senior',
          '',
          '# her manager',
          'reportsTo: bob',
          'engine: pen',
          'effortLevel: "high"',
          'persona: |',
          '  Writes tests.',
          '  And reads them.',
          'shoeSize: 38',
          'monthlyBudgetUsd: 50',
          '',
        ].join('\n'),
      );
      const updated = await socket.until(({ event }) => event === 'org:updated');
      const changed = await socket.until(({ event }) => event === 'org:changed');
      expect([updated.payload, changed.payload]).to.deep.equal([{ employee: 'ann' }, {}]);
      expect((updated.seq ?? 0) < (changed.seq ?? 0)).to.equal(true);
    });

    it('takes a member out with null and writes lists', async () => {
      await patch('ann', {
        effortLevel: null,
        reportsTo: ['bob', 'chief'],
        allowedConnectors: ['mail'],
        permissions: { mode: 'allow-list', allow: ['git *'] },
      });
      const { body } = await office.operator.get('/api/org/employees/ann');
      expect(body).not.to.have.property('effortLevel');
      expect(body).to.deep.include({
        reportsTo: ['bob', 'chief'],
        allowedConnectors: ['mail'],
        permissions: { mode: 'allow-list', allow: ['git *'] },
      });
      expect(
        office.records.roster.value?.employees.find(({ name }) => name === 'ann')?.connectors,
      ).to.deep.equal(['mail']);
    });

    const refused: readonly (readonly [string, unknown, string])[] = [
      ['an unknown member', { colour: 'red' }, 'unknown field(s): colour'],
      [
        'a smuggled one',
        JSON.parse('{"__proto__": {"rank": "executive"}, "rank": "senior"}'),
        'unknown field(s): __proto__',
      ],
      ['the name', { name: 'eve' }, "field 'name' is immutable and cannot be changed"],
      ['nothing', {}, 'no recognized fields to update'],
      ['a rank that is none', { rank: 'boss' }, 'invalid rank "boss"'],
      ['an unknown engine', { engine: 'steam' }, 'steam'],
      ['a model of no engine', { model: 'grand' }, 'grand'],
      ['an unknown department', { department: 'moon' }, 'unknown department "moon"'],
      ['an unknown manager', { reportsTo: 'eve' }, 'unknown manager "eve"'],
      ['a text where a number belongs', { monthlyBudgetUsd: '5' }, 'monthlyBudgetUsd'],
      ['a name that is none', { reportsTo: '../chief' }, 'reportsTo'],
    ];
    for (const [what, body, words] of refused) {
      it(`refuses ${what} and leaves the file alone`, async () => {
        const before = await readFile(annFile(), 'utf8');
        const answer = await patch('ann', body);
        expect(answer.status).to.equal(400);
        expect(answer.body.error).to.include(words);
        expect(await readFile(annFile(), 'utf8')).to.equal(before);
      });
    }

    it('refuses a circle before it is written: the one who closes it would choose their own judge', async () => {
      expect((await patch('bob', { reportsTo: 'bob' })).status).to.equal(400);
      expect((await patch('bob', { reportsTo: 'ann' })).body.error).to.include('who is below bob');
      expect((await patch('chief', { reportsTo: 'ann' })).status).to.equal(400);
      expect((await office.operator.get('/api/org')).body.hierarchy.warnings).to.deep.equal([]);
    });

    it('keeps both of two changes at once, and the one that was made by hand meanwhile', async () => {
      const edits = await Promise.all([
        patch('ann', { displayName: 'One' }),
        patch('ann', { rank: 'manager' }),
        patch('bob', { displayName: 'Two' }),
      ]);
      expect(edits.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      await writeFile(annFile(), `${await readFile(annFile(), 'utf8')}emoji: 🌱\n`);
      expect((await patch('ann', { alwaysNotify: true })).body.employee).to.include({
        displayName: 'One',
        rank: 'manager',
        emoji: '🌱',
        alwaysNotify: true,
      });
    });

    it('is 404 for no one', async () => {
      expect((await patch('nobody', { rank: 'manager' })).status).to.equal(404);
      expect((await patch('__proto__', { rank: 'manager' })).status).to.equal(404);
    });
  });

  describe('board', () => {
    it('is empty, then what was put, for departments that exist', async () => {
      expect((await office.operator.get('/api/org/departments/build/board')).body).to.deep.equal([]);
      expect(
        (await office.operator.call('PUT', '/api/org/departments/build/board', [{ id: 1 }])).body,
      ).to.deep.equal({ status: 'ok' });
      expect((await office.operator.get('/api/org/departments/build/board')).body).to.deep.equal([{ id: 1 }]);
      for (const name of ['moon', '..', '%2e%2e', '..%2Fskills'])
        expect(
          (await office.operator.call('PUT', `/api/org/departments/${name}/board`, [])).status,
          name,
        ).to.equal(404);
    });

    it("does not follow a link that stands in the file's place", async () => {
      await office.put('config.yaml', 'secret: true\n');
      await symlink(join(office.layout.home, 'config.yaml'), join(office.layout.org, 'build', 'board.json'));
      expect((await office.operator.get('/api/org/departments/build/board')).text).not.to.include('secret');
      await office.operator.call('PUT', '/api/org/departments/build/board', []);
      expect(await readFile(join(office.layout.home, 'config.yaml'), 'utf8')).to.equal('secret: true\n');
    });
  });
});
