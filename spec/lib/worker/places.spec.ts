import { expect } from 'chai';
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { defineEngine, type TurnRequest } from '../../../actors/engines/engine.js';
import { openPlaces, type Places } from '../../../lib/worker/places.js';
import { PreparedTurns } from '../../../lib/worker/prepared-turns.js';
import type { TurnPreparation } from '../../../lib/worker/wire.js';

/** What a gateway may ask of the machine of a worker, where it asks for more than it was let have. */
describe('the places of a worker', () => {
  let folder: string;
  let work: string;
  let places: Places;
  const engine = defineEngine({
    name: 'talk',
    effortMechanism: 'none',
    discover: async () => ({ available: true, defaultModel: null, models: [] }),
    turn: () => Promise.reject(new Error('It was begun.')),
  });

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'worker-places-')));
    work = join(folder, 'home', 'work');
    for (const made of [work, join(folder, 'root', 'inner'), join(folder, 'rooted'), join(folder, 'private')])
      await mkdir(made, { recursive: true });
    places = placesOf([join(folder, 'root')]);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const placesOf = (roots: readonly string[]): Places =>
    openPlaces({
      hidden: [],
      work,
      roots,
      level: 'off',
      isRequired: false,
      programs: [],
      gatewayUrl: 'https://gateway.example',
      openLink: () => Promise.reject(new Error('No link.')),
    });
  const turn = (cwd: string, sessionId = 's1'): TurnPreparation => ({
    type: 'prepare',
    turnId: `${sessionId}:1`,
    sessionId,
    engine: 'talk',
    cwd,
    nativeId: null,
    level: 'off',
    isRequired: false,
  });
  const faultOf = async (cwd: string, sessionId?: string, of = places) =>
    (await of.open(turn(cwd, sessionId), engine)).answer.fault;

  // The gateway's word for "as the engine is set" came instead of the model that the worker's configuration names
  it('leave the model and the effort to the configuration there where the session names none', async () => {
    const { open } = await places.open(turn(join(folder, 'root')), engine);
    const asked = { prompt: 'x', env: {}, files: [], model: 'default', effort: 'default' };
    expect(open?.requestOf(asked as unknown as TurnRequest)).to.include({ model: null, effort: null });
    const named = { ...asked, model: 'large', effort: 'high' } as unknown as TurnRequest;
    expect(open?.requestOf(named)).to.include({ model: 'large', effort: 'high' });
    await open?.close();
  });

  // a review, a copy and what an agent delegated could not work in the folder of the session that they were for
  it('are its roots, what lies below them, and folders of sessions', async () => {
    for (const inside of [join(folder, 'root'), join(folder, 'root', 'inner'), join(work, 's1')])
      expect(await faultOf(inside), inside).to.equal(undefined);
    expect(await faultOf(join(work, 's1'), 's2'), 'of another one').to.equal(undefined);
    for (const outside of [folder, join(folder, 'rooted'), join(folder, 'private'), join(work, 's9'), work])
      expect(await faultOf(outside), outside).to.include('not a folder inside the roots');
    expect(await faultOf('/usr', 's1', placesOf(['/'])), 'below the root of all').to.equal(undefined);
  });

  // an id that was a path made any folder a root of the worker
  it('are left by no id of a session and by no link', async () => {
    for (const sessionId of [relative(work, folder), '..', '../..', '.', '', `s1\0`, 's/1'])
      expect(await faultOf(join(folder, 'private'), sessionId), sessionId).to.equal(
        'The id of the session is none.',
      );
    await symlink(join(folder, 'private'), join(work, 's3')); // as an agent of that session may leave it
    expect(await faultOf(join(work, 's3'), 's3')).to.include('not a folder inside the roots');
    await symlink(join(folder, 'private'), join(folder, 'root', 'link'));
    expect(await faultOf(join(folder, 'root', 'link'))).to.include('not a folder inside the roots');
  });

  // LD_PRELOAD is read by the sandbox's own program, too
  it('give a turn the variables of its session and no others, and what was judged for it', async () => {
    const cwd = join(folder, 'root');
    const { open } = await places.open(turn(cwd), engine);
    const env = { SVC_SESSION_ID: 's1', SVC_GATEWAY_URL: 'http://x', TRACEPARENT: '00-1-2-01' };
    const asked = {
      ...{ sessionId: 's2', turnId: 's2:9', nativeId: '../x', cwd: '/', files: ['/etc/shadow'] },
      env: { ...env, LD_PRELOAD: '/root/x.so', PATH: '/root', NODE_OPTIONS: '--require=/root/x' },
    };
    const here = open?.requestOf(asked as unknown as TurnRequest); // the rest is not looked at
    expect(here).to.deep.equal({
      ...{ sessionId: 's1', turnId: 's1:1', nativeId: null, cwd, files: [], project: 'plain' },
      env: { ...env, SVC_GATEWAY_URL: 'https://gateway.example' },
    });
  });

  // what its project sets was judged for an engine that reads none of it
  it('are for the engine and the session that were judged', async () => {
    const prepared = new PreparedTurns(places);
    const { turnId, ...judged } = turn(join(folder, 'root'));
    await prepared.prepare({ turnId, ...judged }, engine, () => Promise.resolve());
    expect(prepared.take(turnId, { ...judged, engine: 'claude' })).to.equal(undefined);
    expect(prepared.take(turnId, { ...judged, sessionId: 's2' })).to.equal(undefined);
    expect(prepared.take(turnId, judged)).not.to.equal(undefined);
    expect(prepared.take(turnId, judged), 'once').to.equal(undefined);
  });
});
