import { createClient, GatewayError, isRefusal } from '../client/index.js';
import type {
  Answer,
  Client as GatewayClient,
  components,
  InitOf,
  Method,
  PathWith,
  Refusal,
} from '../client/index.js';
import { isAlive, readAnnouncement, type Announcement } from '../home/announce.js';
import type { Layout } from '../home/layout.js';
import { hint } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';

/**
 * How commands talk to the live gateway of a home: with `troupe/client` and the token of gateway.json. The token
 * is sent only while the announced process is really there; anybody may listen on a port that became free.
 */
export interface Client {
  readonly announcement: Announcement;
  readonly get: Sure<'get'>;
  readonly post: Sure<'post'>;
  readonly put: Sure<'put'>;
  /** Posts to a path that a table names. */
  send(path: string, body: object): Promise<unknown>;
  /** The client itself, whose refusals are values. */
  readonly gateway: GatewayClient;
  /** Whether the gateway reports itself as well. */
  healthy(): Promise<boolean>;
}

/** Resolves with the answer; a refusal ends the command with its sentence. */
type Sure<M extends Method> = <Path extends PathWith<M>>(
  path: Path,
  ...init: InitOf<Path, M>
) => Promise<Answer<Path, M>>;

/** The client of a running gateway; otherwise an error that says how to start one. */
export async function connect(layout: Layout): Promise<Client> {
  const announcement = await running(layout);
  if (announcement === undefined) throw notRunning(layout);
  const { url, token } = announcement;
  const gateway = createClient({ url, token, retries: 1 });
  const sure =
    <M extends 'get' | 'post' | 'put'>(method: M): Sure<M> =>
    async (path, ...init) => {
      const answer = await reached(url, (gateway[method] as Request)(path, ...init));
      if (isRefusal(answer)) throw refused(answer);
      return answer as Answer<typeof path, M>;
    };
  return {
    announcement,
    gateway,
    get: sure('get'),
    put: sure('put'),
    post: sure('post'),
    send: (path, body) => sure('post')(path as never, { body } as never),
    healthy: () =>
      fetch(new URL('/healthz', url), { redirect: 'error' }).then(
        (response) => response.ok,
        () => false,
      ),
  };
}

type Request = (path: string, ...init: readonly unknown[]) => Promise<unknown>;

/** What the gateway said no to, as the end of a command. */
export const refused = ({ message, code }: Refusal): CommandError =>
  new CommandError(exitCodes.refused, `${message} (${code})`);

/** Waits for something of the gateway; where none answers, the command ends with a sentence that says so. */
export async function reached<Value>(url: string, value: Promise<Value>): Promise<Value> {
  try {
    return await value;
  } catch (cause) {
    if (!(cause instanceof GatewayError)) throw cause;
    throw cause.code === 'UNREACHABLE' || cause.code === 'TIMEOUT'
      ? new CommandError(
          exitCodes.notRunning,
          `The gateway at ${url} does not answer. "troupe status" shows details.`,
          { cause },
        )
      : new CommandError(exitCodes.failed, cause.message, { cause });
  }
}

/** An answer of the inspector, of whose members the document names only the main ones. */
export const inspected = async <Body>(answer: Promise<unknown>): Promise<Body> => (await answer) as Body;

/** As its status says, unless it waits: a list in which all are `running` tells no one which of them work. */
export const wordOf = ({ status, transportState }: WordOf): string =>
  status === 'running' && transportState === 'queued' ? 'queued' : status;
type WordOf = Pick<components['schemas']['Session'], 'status' | 'transportState'>;

/** What does not work though the gateway runs: `['disk: less than 200 MB are free']`; an older one may not say. */
export const troubles = (client: Client): Promise<readonly string[]> =>
  inspected<Tree>(client.get('/api/inspect/supervision')).then(
    ({ root }) =>
      (root?.subsystems ?? []).flatMap(({ name, failing }) =>
        failing === null ? [] : [`${name}: ${failing}`],
      ),
    () => [],
  );

interface Tree {
  readonly root?: {
    readonly subsystems?: readonly { readonly name: string; readonly failing: string | null }[];
  };
}

/** The members that are given: the types of the gateway's document know no `undefined`. */
export const given = <Members extends object>(members: Members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    readonly [Name in keyof Members]: Exclude<Members[Name], undefined>;
  };

/** The announcement of the gateway that runs at this home now; undefined when none does. */
export async function running(layout: Layout): Promise<Announcement | undefined> {
  const announcement = await readAnnouncement(layout.announcement);
  return announcement !== undefined && (await isAlive(announcement)) ? announcement : undefined;
}

export function notRunning(layout: Layout): CommandError {
  return new CommandError(
    exitCodes.notRunning,
    `No gateway runs at ${layout.home}. Start one with: ${hint(layout, 'start')}`,
  );
}

/**
 * The id of a session that was typed whole or in part, from its beginning. What names none is left as it is: the
 * gateway knows ids that no list shows, and says so where there is nothing.
 * @example await sessionNamed(client, '3f2a') // '3f2a91c0-…'
 */
export async function sessionNamed(client: Client, typed: string): Promise<string> {
  if (whole.test(typed) || typed.trim().length < shortestPart) return typed;
  const answer = await client.get('/api/sessions', { params: { query: { q: typed } } });
  const listed = 'sessions' in answer ? answer.sessions : answer;
  if (listed.length >= hitsMax)
    throw new CommandError(exitCodes.usage, `"${typed}" is in too many sessions: give the whole id.`);
  const found = listed.map(({ id }) => id).filter((id) => id.startsWith(typed));
  if (found.length > 1 && !found.includes(typed))
    throw new CommandError(
      exitCodes.usage,
      `"${typed}" means ${found.length} sessions: ${found.slice(0, 10).join(', ')}.`,
    );
  return found.length === 1 ? (found[0] ?? typed) : typed;
}

/** What cannot be taken back is not done by two letters that happen to fit. Throws where they are too few. */
export function requireLong(typed: string): void {
  if (typed.length < longPart)
    throw new CommandError(
      exitCodes.usage,
      `"${typed}" is too short: give ${longPart} characters of the id.`,
    );
}

const longPart = 8;
const whole = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const shortestPart = 2;
const hitsMax = 100; // of one answer: behind them another session may begin so too
