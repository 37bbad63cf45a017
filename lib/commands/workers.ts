import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import type { Placement } from '../../machines/session/context.js';
import { isWorkerName, workerLimits, type WorkerOffer } from '../../machines/worker/machine.js';
import { system } from '../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import type { App, Employee, GatewayActor } from './app.js';
import { optionsOf, type Request } from './request.js';
import { typable, typed } from './pair.js';
import { workingFolder } from './sessions/working-folder.js';

/**
 * Workers on other machines: how one is let in and shown out again, and which of them a session belongs to. What runs
 * there is the business of lib/worker.
 */
export interface Invitation {
  readonly name: string;
  /** Of the worker, once, within ten minutes. */
  readonly code: string;
  readonly ttlSeconds: number;
}

/** A new one, or one of a name that was removed. */
export async function inviteWorker(request: Request, name: string): Promise<Invitation | Refusal> {
  const { app } = request;
  const code = typable(app.supervisor.environment.random.secret(24));
  const codeHash = hashOfCode(app, name, code);
  const by = optionsOf(request);
  const known = await app.supervisor.get('worker', name);
  const done =
    known === undefined
      ? await app.supervisor.spawn('worker', { id: name, input: { codeHash }, by: request.caller })
      : await app.supervisor.ask('worker', name, { type: 'worker.invite', codeHash }, by);
  return isRefusal(done) ? done : { name, code, ttlSeconds: workerLimits.inviteMs / 1_000 };
}

/** The worker's token, which no one else ever sees. PAIRING_CODE_INVALID for any name or code that is wrong. */
export async function joinWorker(
  app: App,
  name: string,
  given: string,
): Promise<{ readonly token: string } | Refusal> {
  const code = typed(given);
  if (code === undefined || !isWorkerName(name)) return refuse('PAIRING_CODE_INVALID');
  const secret = app.supervisor.environment.random.secret(32);
  const done = await app.supervisor.ask(
    'worker',
    name,
    { type: 'worker.join', codeHash: hashOfCode(app, name, code), tokenHash: hashOf(secret) },
    { by: system('pairing') },
  );
  if (!isRefusal(done)) return { token: `${tokenPrefix}.${name}.${secret}` };
  return done.status >= 500 ? done : refuse('PAIRING_CODE_INVALID');
}

/** The worker to which a token belongs. Undefined for one that is unknown, or was removed. */
export async function workerWith(app: App, token: string): Promise<GatewayActor<'worker'> | undefined> {
  const [prefix, name = '', secret = '', ...rest] = token.split('.');
  if (prefix !== tokenPrefix || rest.length > 0 || !isWorkerName(name) || secret.length !== 43)
    return undefined;
  const worker = await app.supervisor.get('worker', name);
  const hash = Buffer.from(hashOf(secret));
  const same = timingSafeEqual(hash, Buffer.from(worker?.view.tokenHash ?? '0'.repeat(hash.length)));
  return same ? worker : undefined;
}

/**
 * It connects. `epoch`: the number of this connection, by which the worker knows the gateway's frames from older ones.
 */
export async function connectWorker(
  app: App,
  { id, view: { tokenHash } }: GatewayActor<'worker'>,
  offer: WorkerOffer,
): Promise<Pick<GatewayActor<'worker'>['view'], 'epoch' | 'status'> | Refusal> {
  const done = await app.supervisor.ask(
    'worker',
    id,
    { type: 'worker.connect', tokenHash: tokenHash ?? '', offer },
    { by: system('workers') },
  );
  return isRefusal(done) ? done : done.view;
}

const tokenPrefix = 'troupe-worker';
const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
const hashOfCode = ({ keyFor }: App, name: string, code: string): string =>
  createHmac('sha256', keyFor?.('workers') ?? '')
    .update(`${name}\0${code}`)
    .digest('base64url');

/** Which worker a session belongs to, and where it works there. */
export interface PlacedSession {
  readonly placement: Placement;
  readonly cwd: string;
}

/** Who opens a session, and what it runs on. */
export interface Opener {
  readonly employee: Pick<Employee, 'worker' | 'cwd'> | null;
  /** The session whose agent opens it; undefined: a person, or the gateway itself. */
  readonly sessionId?: string | undefined;
  readonly engine?: string;
}

/**
 * The worker that was asked for, else its employee's, else that of the agent that opens it; undefined: this machine.
 * What is wanted elsewhere is never run here: there has to be such a worker, though it may be away. The session stays
 * with the first that takes it.
 */
export async function placedSession(
  app: App,
  sessionId: string,
  { worker, labels, cwd }: { readonly cwd?: string | null | undefined } & Wanted,
  opener: Opener,
): Promise<PlacedSession | Refusal | undefined> {
  const { employee } = opener;
  const isChosen = worker != null || labels !== undefined;
  const beside = isChosen ? undefined : await besideOpener(app, opener, cwd);
  if (isRefusal(beside)) return beside;
  const own = isChosen ? undefined : (employee?.worker ?? beside);
  const wanted = { worker: worker ?? own?.name ?? null, labels: labels ?? own?.labels ?? [] };
  if (wanted.worker === null && wanted.labels.length === 0) return undefined;
  const known = (await knownWorkers(app)).filter(
    ({ id, view: { offer } }) =>
      (wanted.worker === null || wanted.worker === id) &&
      (wanted.worker !== null || wanted.labels.every((label) => offer?.labels.includes(label) === true)),
  );
  if (known.length === 0)
    return refuse(
      'BAD_REQUEST',
      { path: 'worker' },
      `There is no worker ${wanted.worker ?? `with the labels ${wanted.labels.join(', ')}`}. ` +
        '"troupe workers" lists them.',
    );
  const folder = cwd ?? (own === undefined ? undefined : employee?.cwd);
  if (folder != null)
    return folder.startsWith('/') && !folder.includes('\0')
      ? { placement: wanted, cwd: folder }
      : refuse('BAD_REQUEST', { path: 'cwd' }, 'cwd must be an absolute path on the worker.');
  // Without a folder of anyone's choice it works in one of its own, there: that has to be one worker's
  const here = new Set(app.workers?.remote.places().map(({ name }) => name));
  const chosen = known.find(({ id }) => here.has(id)) ?? known[0];
  const work = chosen?.view.offer?.work;
  if (chosen === undefined || work === undefined)
    return refuse(
      'BAD_REQUEST',
      { path: 'cwd' },
      `Worker ${wanted.worker} has never connected: name the folder there (cwd).`,
    );
  return { placement: { ...wanted, worker: chosen.id }, cwd: join(work, sessionId) };
}

/**
 * What an agent of a worker opens works there too, beside its folders, unless an employee has a folder of its own or
 * the worker lacks the engine: a folder that the agent names is one of its machine.
 */
async function besideOpener(
  { supervisor }: App,
  { employee, sessionId, engine }: Opener,
  cwd: string | null | undefined,
): Promise<Employee['worker'] | Refusal> {
  if (sessionId === undefined || employee?.worker !== undefined) return undefined;
  if (cwd == null && employee?.cwd !== undefined) return undefined;
  const name = (await supervisor.get('session', sessionId))?.view.worker;
  if (name == null) return undefined;
  const engines = (await supervisor.get('worker', name))?.view.offer?.engines ?? [];
  if (engine === undefined || engines.includes(engine)) return { name };
  return cwd == null
    ? undefined
    : refuse('BAD_REQUEST', { path: 'engine' }, `Worker ${name} has no engine "${engine}".`);
}

/** Where a session works that names no folder: on its employee's worker, else in a folder of its own here. */
export async function ownPlace(
  app: App,
  sessionId: string,
  employee: Employee | null,
): Promise<{ readonly cwd: string; readonly placement?: Placement } | Refusal> {
  const placed = await placedSession(app, sessionId, {}, { employee });
  if (placed !== undefined) return placed;
  const cwd = await workingFolder(app, sessionId, null, { rehearsal: false });
  return isRefusal(cwd) ? cwd : { cwd };
}

export interface Wanted {
  /** By name. */
  readonly worker?: string | null | undefined;
  /** By all of these. */
  readonly labels?: readonly string[] | undefined;
}

/** Those that are invited or let in, by name; `all`: those that were removed, too. */
export async function knownWorkers(
  { supervisor }: App,
  index: 'known' | 'all' = 'known',
): Promise<readonly GatewayActor<'worker'>[]> {
  const { items } = await supervisor.list('worker', { index, limit: workersMax });
  const found = await Promise.all(items.map(({ id }) => supervisor.get('worker', id)));
  return found.filter((worker) => worker !== undefined);
}

const workersMax = 200;
