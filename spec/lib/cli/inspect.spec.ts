import { expect } from 'chai';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bundle } from '../../../lib/inspector/bundle.js';
import type { InspectEntry } from '../../../lib/client/inspector-frames.js';
import { Troupe, type Running } from './troupe.js';

/** `troupe top`, `tail`, `inspect --bundle` and `replay`, of a real gateway in another process. */
describe('troupe top, tail and replay', () => {
  let troupe: Troupe;
  let gateway: Running;
  let session = '';
  before(async () => {
    troupe = await Troupe.create();
    gateway = await troupe.start();
    const ran = await troupe.run(...at('run', 'count to 2'));
    session = /session ([\w-]{36})/.exec(ran.err)?.[1] ?? expect.fail(ran.err);
  });
  after(() => troupe.clear());
  const at = (...words: string[]): string[] => [...words, '--home', troupe.home()];

  it('top prints one picture into a pipe: kinds, states, rules, circuits, what happened lately; no escapes', async () => {
    const { code, out } = await troupe.run(...at('top', '--once'));
    expect(code).to.equal(0);
    expect(out)
      .to.match(/Troupe default {2}http:\S+ {2}running/)
      .and.match(/log \d+ .* 0 restarts {2}0 dead letters/);
    expect(out).to.match(/session +1 +0 +0 +0 +resting\.idle 1 +one_for_one 5\/60 s/);
    expect(out)
      .to.match(/circuits .*● clerk/)
      .and.match(/LATELY/)
      .and.match(/session\/\S+ turn\.began/);
    expect(out).to.not.include('\u001b');
  });

  it('top tells apart that no gateway runs', async () => {
    expect(await troupe.run('top', '--home', troupe.home('nobody'))).to.include({ code: 3 });
  });

  it('tail prints the log from a position to its end, filtered, for people and for programs', async () => {
    const all = (await troupe.run(...at('tail', '--no-follow'))).out.trim().split('\n');
    expect(all[0]).to.match(/^\d\d:\d\d:\d\d\.\d{3} +1 \S+\/\S+ kernel\.created · → \S+/);
    const own = (
      await troupe.run(...at('tail', '--no-follow', '--kind', 'session', '--since', '1', '--json'))
    ).out
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as InspectEntry);
    expect(own.length).to.be.greaterThan(2);
    expect(own.every(({ kind, seq }) => kind === 'session' && seq > 1)).to.equal(true);
    expect(
      (await troupe.run(...at('tail', '--no-follow', '--tree', `session/${session}`))).out.trim().split('\n'),
    ).to.have.length(own.length + (own[0]?.from === null ? 0 : 1));
    expect((await troupe.run(...at('tail', '--tree', 'nonsense'))).code).to.equal(2);
  });

  it('tail and top go by the zone of the settings, then by that of the terminal; --utc and --json by UTC', async () => {
    const words = at('tail', '--no-follow', '--id', session);
    const hourOf = async (env: Readonly<Record<string, string>>, ...more: string[]): Promise<string> =>
      /^(\d\d):\d\d:\d\d\.\d{3} /.exec((await troupe.begin(env, ...words, ...more).ended).out)?.[1] ?? '';
    const { at: created } = JSON.parse(
      (await troupe.run(...words, '--json')).out.split('\n', 1)[0] ?? '',
    ) as InspectEntry;
    const ahead = (hours: number): string =>
      new Date(created + hours * 3_600_000).toISOString().slice(11, 13);
    expect(await hourOf({ TZ: 'Etc/GMT-3' })).to.equal(ahead(3));
    await writeFile(join(troupe.home(), 'config.yaml'), 'portal: {timeZone: Etc/GMT-9}\n');
    expect(await hourOf({ TZ: 'Etc/GMT-3' })).to.equal(ahead(9));
    expect(await hourOf({ TZ: 'Etc/GMT-3' }, '--utc')).to.equal(ahead(0));
    const lately = (await troupe.run(...at('top', '--once'))).out.split('LATELY')[1] ?? '';
    expect(lately).to.match(new RegExp(`^${ahead(9)}:`, 'm'));
    await writeFile(join(troupe.home(), 'config.yaml'), 'portal: {timeZone: Mars/Base}\n');
    expect(await hourOf({ TZ: 'Etc/GMT-3' }), 'a fault in the settings').to.equal(ahead(3));
    await writeFile(join(troupe.home(), 'config.yaml'), '');
  });

  it('writes a bug bundle that replays to the same, and says where a forged one differs', async () => {
    const file = join(troupe.folder, 'bug.json');
    const written = await troupe.run('inspect', troupe.home(), 'session', session, '--bundle', file);
    expect(written).to.include({ code: 0 });
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect((await troupe.run('inspect', troupe.home(), 'session', session, '--bundle', file)).err).to.match(
      /already exists/,
    );
    const text = await readFile(file, 'utf8');
    expect(text).to.not.include('count to 2').and.not.include('Counted').and.not.include(troupe.folder);
    const same = await troupe.run('replay', file);
    expect(same.out)
      .to.match(/session\/\S+ replayed identically, \d+ steps/)
      .and.match(/All results match\./);
    expect(same.code).to.equal(0);
    const bundle = JSON.parse(text) as Bundle;
    const entries = bundle.actors[0]?.entries ?? [];
    const forged = {
      ...bundle,
      actors: [
        {
          ...bundle.actors[0],
          entries: entries.map((entry, n) => (n === 1 ? { ...entry, state: '0'.repeat(64) } : entry)),
        },
      ],
    };
    const other = join(troupe.folder, 'forged.json');
    await writeFile(other, JSON.stringify(forged));
    const differs = await troupe.run('replay', other);
    expect(differs.code).to.equal(1);
    expect(differs.out)
      .to.match(new RegExp(`differs at ${entries[1]?.seq} `))
      .and.match(/Results differ/);
    for (const [name, content, sentence] of [
      ['a', 'no json', /not JSON/],
      ['b', '{}', /not a Troupe bug bundle/],
      ['c', '{"format":"troupe-bundle","version":9}', /version 9/],
      ['d', '{"format":"troupe-bundle","version":1,"actors":[{}],"machines":{}}', /damaged/],
    ] as const) {
      await writeFile(join(troupe.folder, name), content);
      expect(await troupe.run('replay', join(troupe.folder, name))).to.satisfy(
        ({ code, err }: { code: number; err: string }) => code === 1 && sentence.test(err),
      );
    }
    expect((await troupe.run('inspect', troupe.home(), 'session', '--bundle', other)).code).to.equal(2);
  });

  it('tail says that it watches, and of a position that the log does not reach that it does not reach it', async () => {
    const watching = troupe.begin(...at('tail', '--since', '99999', '--kind', 'session'));
    await watching.seen(
      /\(watching; Ctrl-C ends it\)[^]*\(the log ends at \d+, before 99999; continuing from its end\)/,
    );
    watching.child.kill('SIGINT');
    expect((await watching.ended).code).to.equal(130);
  });

  it('tail goes on without a gap when the gateway is killed and comes back', async () => {
    const watching = troupe.begin(...at('tail', '--json', '--since', '0'));
    await watching.seen(/kernel\.created/);
    await gateway.kill('SIGKILL');
    await watching.seen(/lost the gateway; reconnecting/);
    await troupe.start();
    await troupe.run(...at('run', 'count to 1'));
    const seqs = (): number[] =>
      watching.out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as InspectEntry).seq);
    const log = (await troupe.run(...at('tail', '--no-follow', '--json'))).out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as InspectEntry).seq);
    await watching.seen(new RegExp(`"seq":${log.at(-1)},`));
    await watching.kill('SIGINT');
    expect(seqs().slice(0, log.length)).to.deep.equal(log);
    expect(log).to.deep.equal(log.map((_, n) => n + 1));
  });
});
