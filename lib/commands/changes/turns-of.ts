import type { MessageRow } from '../../../machines/session/context.js';
import type { App } from '../app.js';

/** What a turn changed, as it was recorded when it ended. */
export interface ChangedInTurn {
  readonly turnId: string;
  /** ISO-8601. */
  readonly at: string;
  readonly files: readonly string[];
  /** `git diff --stat` */
  readonly stat: string;
  /** Where the whole patch is kept; null: it is not. */
  readonly patchUrl: string | null;
}

/** Of the last messages of a session, the latest first. */
export async function turnsOf({ supervisor }: App, sessionId: string): Promise<readonly ChangedInTurn[]> {
  const rows = await supervisor.rows({ kind: 'session', id: sessionId }, 'messages', { last: messagesMax });
  return rows.flatMap(({ row }) => changedIn(row)).reverse();
}

const messagesMax = 1_000;

function changedIn({ meta, media, timestamp }: MessageRow): readonly ChangedInTurn[] {
  const { kind, turnId, files, stat } = (meta ?? {}) as Readonly<Record<string, unknown>>;
  if (kind !== 'changes' || typeof turnId !== 'string') return [];
  const [kept] = (media ?? []) as readonly { readonly url?: unknown }[];
  return [
    {
      turnId,
      at: new Date(timestamp).toISOString(),
      files: Array.isArray(files) ? files.filter((file) => typeof file === 'string') : [],
      stat: typeof stat === 'string' ? stat : '',
      patchUrl: typeof kept?.url === 'string' ? kept.url : null,
    },
  ];
}
