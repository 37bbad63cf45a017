import { createHash, timingSafeEqual } from 'node:crypto';
import { isoTime } from '../../../machines/sortable.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import type { A2aOffer } from '../../records/roster/employee.js';
import type { App } from '../app.js';
import { ownRow } from '../iterate.js';
import { inTurn, optionsOf, type Request } from '../request.js';

/**
 * Employees that are offered to agents of other houses, and the credential of each: it opens that employee's tasks and
 * nothing else, and only its hash is kept. Whether one is offered its file says; without a credential no one gets in.
 */
export interface Offered {
  readonly name: string;
  readonly displayName: string;
  readonly offer: A2aOffer;
}

/** Someone who is offered; undefined: no such employee, or not offered, which outsiders cannot tell apart. */
export function offered({ records }: App, name: string): Offered | undefined {
  const person = records?.roster.named(name)?.person;
  return person?.a2a === undefined ? undefined : { name, displayName: person.displayName, offer: person.a2a };
}

/** Everybody who is offered, in roster order, and since when its credential holds; null: it has none. */
export async function listOffered(
  app: App,
): Promise<readonly (Offered & { readonly credentialSince: string | null })[]> {
  const everybody = (app.records?.roster.everybody() ?? []).flatMap(
    ({ person }) => offered(app, person.name) ?? [],
  );
  return Promise.all(
    everybody.map(async (one) => ({
      ...one,
      credentialSince: (await kept(app, one.name))?.createdAt ?? null,
    })),
  );
}

/** A new credential, which no one sees again; with `replace` the one before it holds no longer. */
export function makeCredential(
  request: Request,
  name: string,
  { replace }: { readonly replace: boolean },
): Promise<{ readonly credential: string } | Refusal> {
  const { supervisor } = request.app;
  return inTurn(supervisor, rowOf(name), async () => {
    if (offered(request.app, name) === undefined) return notOffered(name);
    if (!replace && (await kept(request.app, name)) !== undefined)
      return refuse('CONFLICT', {}, `${name} has a credential already. Replace it, or revoke it.`);
    const credential = `${prefixOf(name)}${supervisor.environment.random.secret(32)}`;
    const createdAt = isoTime(supervisor.environment.clock.now());
    const done = await write(request, name, { hash: hashOf(credential), createdAt });
    return done ?? { credential };
  });
}

/** From now on it opens nothing. NOT_FOUND where there is none. */
export function revokeCredential(request: Request, name: string): Promise<Refusal | undefined> {
  return inTurn(request.app.supervisor, rowOf(name), async () =>
    (await kept(request.app, name)) === undefined
      ? refuse('NOT_FOUND', { kind: 'employee', id: name }, `${name} has no credential.`)
      : write(request, name, null),
  );
}

/** Does this `Authorization` header open the tasks of this employee? */
export async function opens(app: App, name: string, authorization: string | undefined): Promise<boolean> {
  const shown = authorization?.startsWith('Bearer ') === true ? authorization.slice(7) : '';
  const known = offered(app, name) === undefined ? undefined : await kept(app, name);
  // Compared also where there is none: how long the answer takes says nothing
  const expected = Buffer.from(known?.hash ?? '0'.repeat(64), 'hex');
  return timingSafeEqual(expected, Buffer.from(hashOf(shown), 'hex')) && known !== undefined;
}

interface Kept {
  /** SHA-256 of the credential, hex: it has 256 bits, so no one guesses it from that. */
  readonly hash: string;
  readonly createdAt: string;
}

async function write(request: Request, name: string, row: Kept | null): Promise<Refusal | undefined> {
  const done = await request.app.supervisor.transact({
    name: row === null ? 'revoke-a2a-credential' : 'make-a2a-credential',
    startsWork: false,
    actors: [],
    ...optionsOf(request),
    run(turns) {
      turns.put(rowOf(name), row === null ? null : { ...row });
      return null;
    },
  });
  return 'result' in done ? undefined : done;
}

const kept = async ({ supervisor }: App, name: string): Promise<Kept | undefined> =>
  ((await ownRow(supervisor, rowOf(name))) ?? undefined) as Kept | undefined;

/** For people; outsiders are told that there is nothing. */
const notOffered = (name: string): Refusal =>
  refuse(
    'NOT_FOUND',
    { kind: 'employee', id: name },
    `${name} is not offered over A2A. Write "a2a: true" into the employee's file first.`,
  );

const rowOf = (name: string): string => `a2a/credential/${name}`;
const prefixOf = (name: string): string => `troupe-a2a.${name}.`;
const hashOf = (credential: string): string => createHash('sha256').update(credential).digest('hex');
