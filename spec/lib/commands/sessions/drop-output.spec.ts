import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { access, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kind } from '../../../../actors/contracts.js';
import { fileKind } from '../../../../actors/file/kind.js';
import { homeKind } from '../../../../actors/home/kind.js';
import { sessionKind } from '../../../../actors/session/kind.js';
import { createTurnRecord } from '../../../../actors/session/turn-record.js';
import type { TurnContext } from '../../../../actors/session/turn-permission.js';
import type { App } from '../../../../lib/commands/app.js';
import { eraseContents } from '../../../../lib/commands/sessions/erase-contents.js';
import { dropOutput as sweepAll } from '../../../../lib/commands/sessions/drop-output.js';
import { keepOutput } from '../../../../lib/commands/sessions/keep-output.js';
import { layoutOf } from '../../../../lib/home/layout.js';
import { openRecords, type Records } from '../../../../lib/records/records.js';
import { openLevelStore } from '../../../../lib/store/level.js';
import { createSupervisor } from '../../../../lib/supervisor/supervisor.js';
import { testEnvironment, type TestEnvironment } from '../../../../lib/testing/test-environment.js';
import { operator } from '../../../../machines/caller.js';
import type { TurnInput, TurnOutput } from '../../../../machines/session/context.js';
import { sessionInput } from './session-input.js';

const dropOutput = (app: App): Promise<number> => sweepAll(app, (error) => expect.fail(String(error)));

/** Results of tools on a real store, with a clock that leaps and a gateway that dies. */
describe('results of tools, after their days', () => {
  const day = 86_400_000;
  const long = 'line of a log\n'.repeat(1_000);
  let home: string;
  let environment: TestEnvironment;
  let app: App;
  let records: Records;

  /** An agent that reads two files, of which one is long; at "wait" it goes on until it is stopped. */
  const turn = {
    guarantee: 'at-most-once' as const,
    async run({ turnId }: TurnInput, context: TurnContext) {
      const record = createTurnRecord({
        turnId,
        context,
        keepText: (file) => keepOutput(app, records, turnId.split(':')[0] ?? '', file),
        onFault: (error) => expect.fail(String(error)),
      });
      const finish = (seq: number, toolId: string, output: string): void => {
        record.take({ type: 'tool.started', seq, toolId, tool: 'Read', input: '{"path":"a"}' });
        record.take({ type: 'tool.finished', seq: seq + 1, toolId, output, isError: false });
      };
      finish(1, 'short', 'four words of it');
      finish(3, 'middle', 'm'.repeat(2_000));
      finish(5, 'long', long);
      await record.close();
      return { outcome: 'succeeded', text: 'read' } satisfies TurnOutput;
    },
    recover: async (): Promise<TurnOutput> => ({ outcome: 'interrupted', text: '' }),
  };

  async function open(version = sessionKind({ turn }).version): Promise<void> {
    const layout = layoutOf({ home });
    records = await openRecords({ layout, environment, root: null });
    const store = await openLevelStore({ directory: home });
    const supervisor = await createSupervisor({
      kinds: [{ ...sessionKind({ turn }), version } as Kind, fileKind() as Kind, homeKind() as Kind],
      store,
      environment,
    });
    app = {
      supervisor,
      records,
      engines: { eraseTranscripts: async () => undefined },
      erasure: { compact: async () => store.compact?.(), heldBy: async () => [] },
      settings: {
        home,
        sessionRoots: [],
        interruptOnNewMessage: true,
        turnDeadlineMs: 1,
        keepToolOutputDays: 30,
      },
    } as unknown as App; // what these commands reach
  }
  async function close(): Promise<void> {
    const stopped = app.supervisor.stop();
    await environment.advance(10_000);
    await stopped;
    await records.close();
  }

  async function ended(id: string, turns = 1): Promise<void> {
    for await (const entry of app.supervisor.watch({ since: 0, kinds: ['session'] }))
      if (entry.id === id && (await app.supervisor.get('session', id))?.view.totalTurns === turns) return;
  }
  async function worked(id: string): Promise<void> {
    await app.supervisor.spawn('session', { id, input: sessionInput({ id, cwd: home }) });
    await ended(id);
  }
  /** The three results of a session, as they are shown. */
  const results = async (id: string) =>
    (await app.supervisor.rows({ kind: 'session', id }, 'messages')).flatMap(({ row }) =>
      row.toolId === undefined ? [] : [{ media: row.media, ...(row.meta as Record<string, unknown>) }],
    ) as Record<string, unknown>[];
  const listed = async (): Promise<number> =>
    (await app.supervisor.list('session', { index: 'tool-output', limit: 10 })).items.length;
  const days = async (count: number): Promise<number> => {
    let dropped = 0;
    for (let n = 0; n < count; n += 1) {
      await environment.sleep(day);
      dropped += await dropOutput(app);
    }
    return dropped;
  };

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'drop-output-'));
    environment = testEnvironment();
    await open();
  });
  afterEach(async () => {
    await close();
    await rm(home, { recursive: true, force: true });
  });

  it('are their beginning, size, hash and a date; what is short stays; then no one looks again', async () => {
    await worked('s1');
    const [, , before] = await results('s1');
    const fileId = /\/api\/files\/([\w-]+)/.exec(JSON.stringify(before))?.[1] ?? '';
    const { path = '' } = (await app.supervisor.get('file', fileId))?.view ?? {};
    expect([await dropOutput(app), await days(29), await listed()]).to.deep.equal([0, 0, 1]);
    expect(await days(2)).to.equal(2);
    const [short, middle, whole] = await results('s1');
    expect(short).to.include({ toolOutput: 'four words of it' }).and.not.have.property('droppedAt');
    expect(middle).to.include({ toolOutput: 'm'.repeat(500), toolOutputBytes: 2_000 });
    expect(whole).to.deep.include({
      media: undefined,
      toolOutputBytes: long.length,
      toolOutputSha256: createHash('sha256').update(long).digest('hex'),
      state: 'done',
    });
    expect(whole?.['droppedAt']).to.equal(environment.clock.now());
    expect(whole?.['toolOutput']).to.have.length(500);
    expect((await app.supervisor.get('file', fileId))?.value).to.equal('removed');
    expect(await access(join(home, path)).catch((error: NodeJS.ErrnoException) => error.code)).to.equal(
      'ENOENT',
    );
    expect(await listed()).to.equal(0);
  });

  // Both copies of the store kept what was replaced until they were rewritten for another reason, weeks later.
  describe('as files', () => {
    const files = async (words: string): Promise<readonly string[]> => {
      const all = await readdir(home, { recursive: true, withFileTypes: true });
      const paths = all.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
      // A compaction removes files between the list and the look
      const texts = await Promise.all(paths.map((path) => readFile(path, 'latin1').catch(() => '')));
      return paths.filter((_, n) => texts[n]?.includes(words)).map((path) => path.slice(home.length + 1));
    };
    const dropped = ['m'.repeat(501), long.slice(0, 600), JSON.stringify(long).slice(1, 600)];
    const left = async () => (await Promise.all(dropped.map(files))).flat();

    it('are in none of the home any more', async () => {
      await worked('s1');
      await dropOutput(app);
      expect(await files('m'.repeat(501)), 'so that the look proves something').to.not.deep.equal([]);
      expect(await days(31)).to.equal(2);
      expect(await left()).to.deep.equal([]);
    });

    it('are in none after the next look where the disk was full, or a gateway died, before they were rewritten', async () => {
      await worked('s1');
      await dropOutput(app);
      Object.assign(app.erasure ?? {}, {
        compact: async () => Promise.reject(new Error('the disk is full')),
      });
      expect(String(await days(31).catch(String))).to.equal('Error: the disk is full');
      expect(await left(), 'so that the look proves something').to.not.deep.equal([]);
      await close();
      await open();
      expect(await dropOutput(app), 'nothing is left to drop').to.equal(0);
      expect(await left()).to.deep.equal([]);
    });
  });

  // A wall that was set a year ahead is no proof that a year has passed.
  it('stay while only a clock says that their days are over', async () => {
    await worked('s1');
    await dropOutput(app);
    await environment.setWall(365 * day);
    expect(await dropOutput(app)).to.equal(0);
    await close();
    environment = testEnvironment({ startAt: environment.clock.now() + 365 * day, boot: 'another' });
    await open();
    expect(await dropOutput(app)).to.equal(0);
    await app.supervisor.retention.allow();
    expect(await dropOutput(app)).to.equal(2);
  });

  // Of what an earlier build left no one knows how old it is: it counts from the first look, which writes to none of it.
  it('count from the first look where an earlier build left them', async () => {
    await close();
    await open(8);
    await worked('s1');
    await close();
    await open();
    await environment.advance(10_000); // lists of the new version are made beside everything else
    const revision = async (): Promise<number | undefined> =>
      (await app.supervisor.get('session', 's1'))?.revision;
    const before = await revision();
    expect([await dropOutput(app), await days(29), await revision()]).to.deep.equal([0, 0, before]);
    expect(await days(2)).to.equal(2);
    expect(await listed()).to.equal(0);
  });

  // The file goes first: a gateway that died in between left a message whose file is gone.
  it('are written at the next look where a gateway died between the file and the message', async () => {
    await worked('s1');
    await dropOutput(app);
    await environment.sleep(31 * day);
    const dying = new Proxy(app.supervisor, {
      get: (target, member) =>
        member === 'ask'
          ? () => Promise.reject(new Error('killed'))
          : (Reflect.get(target, member) as unknown),
    });
    const failures: unknown[] = [];
    expect(await sweepAll({ ...app, supervisor: dying }, (error) => failures.push(error))).to.equal(0);
    expect(failures.map(String)).to.deep.equal(['Error: killed']);
    expect((await results('s1'))[2])
      .to.have.property('media')
      .that.is.an('array');
    await close();
    await open();
    expect(await dropOutput(app)).to.equal(2);
    expect((await results('s1'))[2]).to.include({
      toolOutputSha256: createHash('sha256').update(long).digest('hex'),
      toolOutputBytes: long.length,
    });
  });

  // One session with a file that could not be removed kept the results of all behind it, for ever.
  it('go from all other sessions where one cannot be read', async () => {
    await worked('s1');
    await worked('s2');
    await dropOutput(app);
    await environment.sleep(31 * day);
    const ailing = new Proxy(app.supervisor, {
      get: (target, member) =>
        member !== 'rows'
          ? (Reflect.get(target, member) as unknown)
          : (...given: Parameters<typeof target.rows>) =>
              given[0].id === 's1' ? Promise.reject(new Error('unreadable')) : target.rows(...given),
    });
    const failures: unknown[] = [];
    const count = await sweepAll({ ...app, supervisor: ailing }, (error) => failures.push(error));
    expect([count, failures.map(String)]).to.deep.equal([2, ['Error: unreadable']]);
  });

  // What was read before an erasure must not be written back after it.
  it('do not come back into a session that was erased meanwhile', async () => {
    await worked('s1');
    await dropOutput(app);
    await environment.sleep(31 * day);
    const erasing = new Proxy(app.supervisor, {
      get: (target, member) =>
        member !== 'ask'
          ? (Reflect.get(target, member) as unknown)
          : async (...given: Parameters<typeof target.ask>) => {
              await eraseContents({ app, caller: operator }, { sessionId: 's1' });
              const message = { id: 'm2', role: 'user', content: 'again', kind: 'user' } as const;
              await target.ask('session', 's1', { type: 'message.post', message });
              await ended('s1', 2);
              return target.ask(...given);
            },
    });
    await dropOutput({ ...app, supervisor: erasing });
    const rows = await app.supervisor.rows({ kind: 'session', id: 's1' }, 'messages');
    expect(rows.map(({ row }) => row.content)).to.deep.equal([
      'again',
      'Using Read',
      'Using Read',
      'Using Read',
      'read',
    ]);
    expect(JSON.stringify(rows)).to.not.include('droppedAt');
  });
});
