import { constants } from 'node:fs';
import { access, lstat, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { makeFolder, writeAtomically } from '../../home/atomic-file.js';

/**
 * The evidence of workflows: files for people beside the store, which remains the truth. Where a root is set
 * on purpose and cannot be used, workflows are switched off with the reason, rather than running without
 * evidence.
 */
export interface Evidence {
  readonly configured: boolean;
  /** Why not. */
  readonly reason: string | null;
  readonly root: string;
  /**
   * Write a text file below the root: `await evidence.write('workflows/digest.json', text)`. Whole or not at
   * all. Rejects with the system's error.
   */
  write(path: string, text: string): Promise<void>;
  has(path: string): Promise<boolean>;
}

export interface EvidenceOptions {
  /** Used and made where nothing else is said. */
  readonly standard: string;
  /** Where someone wants it: SVC_WORKFLOW_EVIDENCE_ROOT. Must exist. */
  readonly override?: string | undefined;
}

/**
 * `const evidence = await openEvidence({standard: layout.workflowEvidence, override:
 * process.env.SVC_WORKFLOW_EVIDENCE_ROOT})`. Looks once; a root that is repaired later needs a restart.
 */
export async function openEvidence({ standard, override }: EvidenceOptions): Promise<Evidence> {
  const wanted = override === undefined || override === '' ? undefined : override;
  const root = wanted ?? standard;
  if (wanted === undefined) await makeFolder(standard);
  const reason = wanted === undefined ? null : await faultOf(wanted);
  return {
    configured: reason === null,
    reason,
    root,
    async write(path, text) {
      if (reason !== null) throw new Error(reason);
      const target = placeOf(root, path);
      await makeBelow(root, path.split('/').slice(0, -1));
      await writeAtomically(target, text, { mode: 0o600 });
    },
    async has(path) {
      return lstat(placeOf(root, path)).then(
        (found) => found.isFile(),
        () => false,
      );
    },
  };
}

/** Why a folder cannot hold evidence; null: it can. */
async function faultOf(root: string): Promise<string | null> {
  const set = `SVC_WORKFLOW_EVIDENCE_ROOT is set to ${root.slice(0, 300)}`;
  if (!isAbsolute(root) || root.includes('\0')) return `${set}, which is not an absolute path.`;
  const found = await stat(root).catch(() => undefined);
  if (found === undefined) return `${set} but no such directory exists.`;
  if (!found.isDirectory()) return `${set}, which is not a directory.`;
  return access(root, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => null,
    () => `${set}, which the gateway cannot write to.`,
  );
}

/** Names come from ids, which were checked; here again, because a slip would write anywhere. */
function placeOf(root: string, path: string): string {
  const parts = path.split('/');
  if (!parts.every((part) => /^[A-Za-z0-9_][A-Za-z0-9._:-]{0,250}$/.test(part)))
    throw new TypeError(`invalid evidence path "${path}"`);
  return join(root, ...parts);
}

/** Make the folders on the way, one by one: none of them may be a link that leads out of the root. */
async function makeBelow(root: string, parts: readonly string[]): Promise<void> {
  let folder = root;
  for (const part of parts) {
    folder = join(folder, part);
    const found = await lstat(folder).catch(() => undefined);
    if (found === undefined) await makeFolder(folder);
    else if (!found.isDirectory())
      throw new Error(`The evidence folder ${folder} is a link or a file, and leads outside ${root}.`);
  }
}
