import type { WholeFile } from '../../records/bundles/session-shape.js';
import type { Records } from '../../records/records.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import { keepFile, mediaOf, storedFile, type Media } from '../files.js';
import { ownRow } from '../iterate.js';
import type { Request } from '../request.js';
import { originKey } from './item-change.js';

export const uploadOrigin = ({ sha256, name }: WholeFile) => ({ id: sha256, createdAt: name });

/** Keeps a file of a bundle, once: what was kept before is found by its origin, also where it was removed since. */
export async function takeFile(
  request: Request,
  records: Records,
  { name, content }: WholeFile,
  {
    sessionId,
    origin,
  }: { readonly sessionId: string | null; readonly origin: Parameters<typeof originKey>[1] },
): Promise<Media | Refusal> {
  const { app, caller, onBehalfOf } = request;
  const key = originKey('file', origin);
  const known = await ownRow(app.supervisor, key);
  const before = typeof known === 'string' ? await storedFile(app, known) : undefined;
  if (before !== undefined && !isRefusal(before))
    return mediaOf({
      id: String(before['id']),
      filename: String(before['filename']),
      mimetype: String(before['mimetype']),
      size: Number(before['size']),
    });
  const kept = await keepFile<Media>(
    { app, caller, ...(onBehalfOf && { onBehalfOf }) },
    records,
    { content, filename: name },
    {
      name: 'import-file',
      actors: [],
      sessionId,
      places: { base: records.folders.home, folders: [] },
      decide(tx, file) {
        tx.put(key, file.id);
        return mediaOf(file);
      },
    },
  );
  return isRefusal(kept) ? kept : kept.body;
}
