import { WebSocket } from 'ws';
import { isAlive, readAnnouncement, type Announcement } from '../home/announce.js';
import type { Layout } from '../home/layout.js';
import { hint } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';

/**
 * How commands talk to the live gateway of a home: over HTTP with the token of gateway.json, like any other
 * client. The token is sent only while the announced process is really there; anybody may listen on a port
 * that became free.
 */
export interface Client {
  readonly announcement: Announcement;
  get(path: string): Promise<unknown>;
  /** `patient`: for work that may take minutes. */
  post(path: string, body?: unknown, options?: { readonly patient?: boolean }): Promise<unknown>;
  /** Does the gateway say of itself that it is well? */
  healthy(): Promise<boolean>;
  /** Frames of /ws from now on. Resolves when the gateway has accepted the connection. */
  watch(onFrame: (frame: Frame) => void): Promise<Watch>;
}

export interface Frame {
  readonly seq: number | null;
  readonly event: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface Watch {
  /** Resolves with a reason when the connection ends, whoever ended it. */
  readonly ended: Promise<string>;
  close(): void;
}

/** The client of a running gateway; otherwise an error that says how to start one. */
export async function connect(layout: Layout): Promise<Client> {
  const announcement = await running(layout);
  if (announcement === undefined) throw notRunning(layout);
  const request = async (method: string, path: string, body?: unknown, patient = false): Promise<unknown> => {
    const response = await fetch(new URL(path, announcement.url), {
      method,
      headers: {
        authorization: `Bearer ${announcement.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      ...(patient ? {} : { signal: AbortSignal.timeout(answerMsMax) }),
    }).catch((cause: unknown) => {
      throw new CommandError(
        exitCodes.notRunning,
        `The gateway at ${announcement.url} does not answer. "troupe status" shows details.`,
        { cause },
      );
    });
    return answer(response, `${method} ${path}`);
  };
  return {
    announcement,
    get: (path) => request('GET', path),
    post: (path, body, options) => request('POST', path, body ?? {}, options?.patient),
    healthy: () =>
      fetch(new URL('/healthz', announcement.url), { redirect: 'error' }).then(
        (response) => response.ok,
        () => false,
      ),
    watch: (onFrame) => watch(announcement, onFrame),
  };
}

// A route that waits for an outcome takes 25 s at most.
const answerMsMax = 60_000;

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

async function answer(response: Response, request: string): Promise<unknown> {
  const text = await response.text();
  let body: unknown;
  try {
    body = text === '' ? null : JSON.parse(text);
  } catch {
    throw new CommandError(
      exitCodes.failed,
      `${request} answered ${response.status} with something that is not JSON.`,
    );
  }
  if (response.ok) return body;
  const { error, code } = (body ?? {}) as { error?: unknown; code?: unknown };
  throw new CommandError(
    exitCodes.refused,
    `${typeof error === 'string' ? error : `${request} answered ${response.status}.`}${typeof code === 'string' ? ` (${code})` : ''}`,
  );
}

function watch(announcement: Announcement, onFrame: (frame: Frame) => void): Promise<Watch> {
  const socket = new WebSocket(new URL('/ws', announcement.url.replace(/^http/, 'ws')), {
    headers: { authorization: `Bearer ${announcement.token}` },
    handshakeTimeout: 10_000,
  });
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data)) as Frame;
    onFrame(frame);
  });
  return new Promise((resolve, reject) => {
    const ended = new Promise<string>((settle) => {
      socket.once('close', (code, reason) => settle(reason.length > 0 ? String(reason) : `code ${code}`));
    });
    socket.once('open', () => resolve({ ended, close: () => socket.close() }));
    socket.once('error', (cause) =>
      reject(
        new CommandError(
          exitCodes.notRunning,
          `The live feed of ${announcement.url} cannot be opened (${cause.message}).`,
          { cause },
        ),
      ),
    );
  });
}
