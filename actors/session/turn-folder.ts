import { mkdir, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { TurnInput, UntrustedSettings } from '../../machines/session/context.js';
import type { Engine, TurnRequest } from '../engines/engine.js';
import { allSettingsNames, projectSettings, type ProjectSettings } from '../engines/project-settings.js';
import { ConfineError } from '../sandbox/sandbox.js';
import { sentence } from './turn-outcome.js';

/** What the project of a turn's folder sets, judged as the turn begins. */
export interface JudgedSettings {
  readonly verdict: NonNullable<TurnRequest['project']>;
  readonly untrusted?: UntrustedSettings;
  /** Just before a program starts that takes them over: rejects where they are others by now. */
  confirm(): Promise<void>;
}

/**
 * What the project sets for this engine; trust goes by all that it sets for any (`allNames`).
 * @example await judgedSettings(engine, { cwd, allNames }, (settings) => isTrusted(sessionId, settings))
 */
export async function judgedSettings(
  { name, settingsNames }: Engine,
  {
    cwd,
    allNames = allSettingsNames,
  }: { readonly cwd: string; readonly allNames?: readonly string[] | undefined },
  isTrusted: (settings: ProjectSettings) => Promise<boolean> | undefined,
): Promise<JudgedSettings> {
  const read = async (): Promise<{ readonly own?: ProjectSettings; readonly all?: ProjectSettings }> => {
    const own = settingsNames && (await projectSettings(cwd, settingsNames));
    const all = own && (await projectSettings(cwd, allNames));
    return { ...(own && { own }), ...(all && { all }) };
  };
  const { own, all } = await read();
  const confirm = async (): Promise<void> => {
    if ((await read()).all?.sha256 !== all?.sha256)
      throw new ConfineError(`What this project sets for ${name} changed while it was started. Try again.`);
  };
  if (own === undefined || all === undefined) return { verdict: 'plain', confirm };
  if (!all.isUnread && (await isTrusted(all)) === true) return { verdict: 'trusted', confirm };
  const { root, sha256 } = all;
  const untrusted = { folder: root, sha256, files: own.files };
  return { verdict: 'untrusted', untrusted, confirm: () => Promise.resolve() };
}

/** A sentence for a person. */
export const wantsTrust = ({ folder, files }: UntrustedSettings): string =>
  `No one has trusted ${files.join(', ')}. Read it, then: troupe trust ${folder}`;

export const leftOut = (settings: UntrustedSettings): string =>
  `What this project sets is left out. ${wantsTrust(settings)}`;

/** Why a turn cannot work in this folder; one below `workRoot` is made where it is missing. */
export async function prepareFolder(cwd: string, workRoot: string | undefined): Promise<string | undefined> {
  const folder = resolve(cwd);
  try {
    if (workRoot !== undefined && folder.startsWith(resolve(workRoot) + sep))
      await mkdir(folder, { recursive: true, mode: 0o700 });
    return (await stat(folder)).isDirectory() ? undefined : `The working folder ${cwd} is not a folder.`;
  } catch (error) {
    return `The working folder ${cwd} cannot be used: ${sentence(error)}`;
  }
}

/** What the programs of a turn learn of their session and its gateway. */
export function environment(
  input: TurnInput,
  sessionId: string,
  {
    token,
    url,
    traceparent,
  }: { readonly token: string; readonly url: string | undefined; readonly traceparent?: string | undefined },
): Record<string, string> {
  return {
    SVC_SESSION_ID: sessionId,
    SVC_SESSION_CAPABILITY: token,
    ...(url === undefined ? {} : { SVC_GATEWAY_URL: url, SVC_GATEWAY_TOKEN: token }),
    ...(traceparent === undefined ? {} : { TRACEPARENT: traceparent }),
    ...(input.workItemId === null ? {} : { SVC_WORK_ITEM_ID: input.workItemId }),
  };
}

/** The gateway's tools, with the token of the session. */
export function toolsOf(token: string, url: string | undefined): Pick<TurnRequest, 'mcp'> {
  return url === undefined ? {} : { mcp: { url: `${url}/mcp`, token } };
}
