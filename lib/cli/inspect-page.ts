import { randomBytes, timingSafeEqual } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { appOf, inspectorRoutes, serveInspector } from '../gateway/mount-inspector.js';
import { workflowRunRoutes } from '../gateway/routes/workflows/runs.js';
import type { Layout } from '../home/layout.js';
import { loadModules } from '../home/modules.js';
import { readConfig } from '../home/read-config.js';
import { embeddedStore } from '../home/store-setting.js';
import { Opened } from '../opened.js';
import { openLevelStore } from '../store/level.js';
import { openReader } from '../supervisor/reader.js';
import { builtInKinds } from './built-in-kinds.js';
import { running } from './client.js';
import { hint, type Terminal, needStore } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';

/** The inspector's page on a home whose gateway is stopped, until it is closed. */
export interface StoppedPage {
  /** Lets in the first browser that opens it within a minute. */
  readonly link: string;
  close(): Promise<void>;
}

/**
 * Serve the inspector on a stopped home, to this machine alone. Nothing in the home is touched: what is read is a
 * copy of its store in the temporary folder, and no actor of it runs.
 */
export async function openStoppedPage(layout: Layout): Promise<StoppedPage> {
  const config = await readConfig(layout.config);
  await refuseRunning(layout);
  if (config.store !== embeddedStore)
    throw new CommandError(
      exitCodes.badHome,
      'This home lies in PostgreSQL: start a gateway on it and open its inspector.',
    );
  await needStore(layout);
  const opened = new Opened();
  try {
    const copy = await mkdtemp(join(tmpdir(), 'troupe-inspect-'));
    opened.add(() => rm(copy, { recursive: true, force: true }));
    for (const path of [layout.store, layout.storeCopy, join(layout.home, 'store.json')])
      if (existsSync(path))
        await cp(path, join(copy, basename(path)), { recursive: true, mode: constants.COPYFILE_FICLONE });
    await refuseRunning(layout); // of files that change under it a copy would be of no moment
    const { kinds } = await loadModules(config.modules, layout);
    const store = await openLevelStore({ directory: copy, scrubEveryMs: 0 });
    const why = `This is ${layout.home} as it was left: its gateway is stopped.`;
    const reader = await openReader({ kinds: [...builtInKinds(), ...kinds], store, why }).catch(
      async (error: unknown) => {
        await store.close();
        throw error;
      },
    );
    opened.add(() => reader.stop());
    return await serve(opened, why, {
      ...appOf(reader),
      evidence: {
        configured: true,
        reason: null,
        root: layout.workflowEvidence,
        write: () => Promise.reject(new Error(why)),
        has: async (path) => existsSync(join(layout.workflowEvidence, path)),
      },
    });
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function refuseRunning(layout: Layout): Promise<void> {
  const live = await running(layout);
  if (live === undefined) return;
  throw new CommandError(
    exitCodes.held,
    `A gateway runs at ${layout.home}. Its inspector is live: ${hint(layout, 'open')}`,
  );
}

async function serve(
  opened: Opened,
  why: string,
  app: Parameters<typeof serveInspector>[0],
): Promise<StoppedPage> {
  const admission = createAdmission();
  const reads = workflowRunRoutes(app.evidence).filter(({ method }) => method === 'GET');
  const inspector = serveInspector(app, [...inspectorRoutes, ...reads], {
    authorize: admission.admits,
    readOnly: why,
    isStopped: true,
  });
  const server = createServer((request, response) => {
    const { headers, url = '' } = request;
    // A name of another's that leads here would be another's page
    if (headers.host !== hostOf(server)) return void response.writeHead(421).end();
    const cookie = url.startsWith('/open?')
      ? admission.enter(new URLSearchParams(url.slice('/open?'.length)))
      : '';
    if (cookie === undefined)
      return void response
        .writeHead(403, { 'content-type': 'text/plain' })
        .end('This link was used, or is too old. Run the command again.\n');
    if (cookie !== '')
      return void response.writeHead(303, { location: '/inspect', 'set-cookie': cookie }).end();
    inspector.handler(request, response);
  });
  server.on('upgrade', (request, socket, head) => {
    if (request.headers.host === hostOf(server)) inspector.upgrade(request, socket, head);
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  opened.add(async () => {
    inspector.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { link: `http://${hostOf(server)}/open?key=${admission.key}`, close: () => opened.close() };
}

const hostOf = (server: Server): string => {
  const address = server.address();
  return typeof address === 'object' && address !== null ? `127.0.0.1:${address.port}` : '';
};

/** Other users of this machine reach the port too: a key lets in one browser, once, which shows its cookie from then on. */
function createAdmission() {
  const key = randomBytes(32).toString('base64url');
  const cookie = randomBytes(32).toString('base64url');
  const until = Date.now() + linkMs;
  let isUsed = false;
  return {
    key,
    /** The cookie for one who has the key; undefined for all others. */
    enter(query: URLSearchParams): string | undefined {
      if (isUsed || Date.now() > until || !isSame(query.get('key') ?? '', key)) return undefined;
      isUsed = true;
      return `troupe-stopped=${cookie}; HttpOnly; SameSite=Strict; Path=/`;
    },
    admits({ headers }: IncomingMessage): 'read' | false {
      const given = /(?:^|;\s*)troupe-stopped=([\w-]+)/.exec(headers.cookie ?? '')?.[1] ?? '';
      return isSame(given, cookie) && 'read';
    },
  };
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const linkMs = 60_000;

/** `troupe inspect --home DIR`: until Ctrl-C. */
export async function servePage(layout: Layout, terminal: Terminal): Promise<void> {
  // Heard from the first file that is copied on: no copy of a store stays behind
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
  });
  const page = await openStoppedPage(layout);
  terminal.out(page.link);
  terminal.say('Open it in a browser of this machine within a minute; it lets in one. Ctrl-C ends it.');
  await ended;
  await page.close();
}
