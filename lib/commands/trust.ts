import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { projectSettings, type ProjectSettings } from '../../actors/engines/project-settings.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import { copyOf } from '../home/clones.js';
import { distrustFolder, isTrustedFolder, trustFolder } from '../home/trusted-folders.js';
import type { App } from './app.js';
import type { Reply, Request } from './request.js';

/**
 * What a project sets for the agents that work in it, and whether a person has trusted it as it is. Trust holds for
 * the hash of those files: a change of one of them asks again.
 */
export interface FolderTrust {
  /** The project's root. */
  readonly folder: string;
  readonly state: 'plain' | 'trusted' | 'untrusted';
  /** Null where there is nothing to trust. */
  readonly sha256: string | null;
  readonly files: readonly string[];
}

/** Refuses with BAD_REQUEST what is no folder. `await readTrust({app, caller}, '/home/me/project')` */
export async function readTrust(request: Request, folder: string): Promise<FolderTrust | Refusal> {
  return (await mayName(request, folder)) ?? trustOf(request.app, folder);
}

/** A browser does not find out which folders of this machine there are: it decides what sessions wait for. */
async function mayName({ app, caller }: Request, folder: string): Promise<Refusal | undefined> {
  if (caller.type === 'operator') return undefined;
  for await (const { within, what } of waitingThings(app))
    if (what === 'trust' && within === folder) return undefined;
  return refuse('FORBIDDEN', { folder }, 'No session waits for trust in this folder; use troupe trust.');
}

async function trustOf(app: App, given: string): Promise<FolderTrust | Refusal> {
  const folder = isAbsolute(given) ? await realpath(given).catch(() => undefined) : undefined;
  if (folder === undefined)
    return refuse(
      'BAD_REQUEST',
      { path: 'folder' },
      'folder must be the absolute path of an existing folder.',
    );
  const settings = await projectSettings(folder, app.engines.settingsNames?.());
  if (settings === undefined) return { folder, state: 'plain', sha256: null, files: [] };
  const { home } = app.settings;
  const root = await trustedRoot(home, settings.root);
  const isTrusted = !settings.isUnread && (await isTrustedFolder(home, root, settings.sha256));
  const { sha256, files } = settings;
  return { folder: root, state: isTrusted ? 'trusted' : 'untrusted', sha256, files };
}

export interface TrustDecision {
  readonly folder: string;
  readonly decision: 'trust' | 'withdraw' | 'dismiss';
  /** What the person has read: refused with CONFLICT where the files are others by now. */
  readonly sha256?: string | undefined;
}

/**
 * Trust a folder's settings as they are, withdraw that, or dismiss what waits without trusting. What waits for it in
 * sessions ends.
 */
export async function decideTrust(
  request: Request,
  { folder, decision, sha256 }: TrustDecision,
): Promise<Reply<FolderTrust> | Refusal> {
  const { app } = request;
  const now = await readTrust(request, folder);
  if (isRefusal(now)) return now;
  if (sha256 !== undefined && decision !== 'withdraw' && now.sha256 !== sha256)
    return refuse(
      'CONFLICT',
      { folder },
      `The settings in ${now.folder} have changed meanwhile. Read them again: GET /api/trust.`,
    );
  if (request.dryRun === true) return { body: now };
  const { home } = app.settings;
  if (decision === 'withdraw') await distrustFolder(home, now.folder);
  if (decision === 'trust' && now.sha256 !== null) {
    const settings = await projectSettings(folder, app.engines.settingsNames?.());
    if (settings?.isUnread === true)
      return refuse(
        'CONFLICT',
        { folder },
        `Links and files that cannot be read cannot be trusted: ${now.files.join(', ')}.`,
      );
    await trustFolder(home, now.folder, now.sha256);
  }
  if (decision !== 'withdraw' && now.sha256 !== null) await settle(request, now.sha256);
  const after = await trustOf(app, folder);
  return isRefusal(after) ? after : { body: after };
}

/** Sessions that wait for it. */
async function settle({ app, caller: by }: Request, sha256: string): Promise<void> {
  for await (const { sessionId, id } of waitingThings(app))
    if (sessionId !== undefined && id === `trust:${sha256}`)
      await app.supervisor.ask('session', sessionId, { type: 'settings.judged', sha256 }, { by });
}

async function* waitingThings({ supervisor }: App) {
  for (let after: string | null = ''; after !== null;) {
    const page: Awaited<ReturnType<typeof supervisor.waiting>> = await supervisor.waiting({
      limit: 500,
      ...(after === '' ? {} : { after }),
    });
    for (const { actor, waiting } of page.items)
      yield { ...waiting, sessionId: actor.kind === 'session' ? actor.id : undefined };
    after = page.next;
  }
}

/** For the effect of a turn: `isTrusted: isTrustedIn(layout.home)`. */
export const isTrustedIn =
  (home: string) =>
  async (_sessionId: string, { root, sha256 }: ProjectSettings): Promise<boolean> =>
    isTrustedFolder(home, await trustedRoot(home, root), sha256);

/** A worktree of a session is trusted with the repository that it is of. */
async function trustedRoot(home: string, root: string): Promise<string> {
  const work = join(await realpath(home).catch(() => home), 'work') + sep;
  if (!root.startsWith(work)) return root;
  const copy = await copyOf(home, root.slice(work.length).split(sep)[0] ?? '');
  return copy === undefined ? root : dirname(copy.origin);
}
