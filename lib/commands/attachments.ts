import { recordOf, type Asking, type Desk, type Done } from './desk.js';
import { keepFile, storedFile, type FileWish } from './keep-file.js';
import type { Records } from '../records/records.js';
import type { Json } from '../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/**
 * Attach a file to a session: the bytes go below the session's upload folder, and one commit makes the file known and
 * writes the assistant message that shows it. A `path` may lie in the session's working folder.
 */
export async function attachFile(desk: Desk, records: Records, sessionId: string, wish: FileWish & { readonly text?: string | undefined }, asking: Asking): Promise<Done<Attached> | Refusal> {
  const key = { kind: 'session', id: sessionId };
  const session = await desk.supervisor.get('session', sessionId);
  if (!session) return refuse('NOT_FOUND', key, 'Not found');
  const { cwd } = recordOf(session);
  const base = String(cwd);
  const folders = asking.by.type === 'session' ? [base] : [base, records.folders.files, records.folders.uploads];
  return keepFile<Attached>(desk, records, wish, {
    name: 'attach-file', actors: [key], sessionId, places: { base, folders },
    decide(turns, file) {
      const media = mediaOf(file);
      const message = { id: desk.supervisor.world.id(), content: wish.text ?? file.filename, media: [media] };
      turns.send(key, { type: 'media.insert', message });
      return { id: file.id, filename: file.filename, size: file.size, mimetype: file.mimetype, path: file.path, media, message: { ...message, role: 'assistant', timestamp: turns.at } };
    },
  }, asking);
}

export type Attached = {
  readonly id: string; readonly filename: string; readonly size: number; readonly mimetype: string; readonly path: string;
  readonly media: Media; readonly message: { readonly [member: string]: Json };
};

export type Media = { readonly type: 'image' | 'audio' | 'file'; readonly url: string; readonly name: string; readonly mimeType: string; readonly size: number };

/** The files that a message names, as its media. UNKNOWN_ATTACHMENT names all that are not there. */
export async function attachedMedia(desk: Desk, ids: readonly string[] | undefined): Promise<readonly Media[] | Refusal> {
  const media: Media[] = [];
  const unresolvedAttachments: string[] = [];
  for (const id of ids ?? []) {
    const file = desk.records ? await storedFile(desk, id) : refuse('NOT_FOUND');
    if (isRefusal(file)) unresolvedAttachments.push(id);
    else media.push(mediaOf({ id, filename: String(file['filename']), mimetype: String(file['mimetype']), size: Number(file['size']) }));
  }
  return unresolvedAttachments.length > 0 ? refuse('UNKNOWN_ATTACHMENT', { unresolvedAttachments }) : media;
}

const mediaOf = ({ id, filename, mimetype, size }: { id: string; filename: string; mimetype: string; size: number }): Media =>
  ({ type: /^(image|audio)\//.test(mimetype) ? (mimetype.split('/')[0] as 'image' | 'audio') : 'file', url: `/api/files/${id}`, name: filename, mimeType: mimetype, size });
