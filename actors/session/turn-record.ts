import type { Json } from '../../machines/outputs.js';
import {
  activityLimits,
  type ActivityEntry,
  type ActivityKind,
} from '../../machines/session/activity-entry.js';
import type { TurnChanges } from './turn-changes.js';
import { firstBytes } from '../engines/process/output.js';
import type { TurnEvent, TurnEventOf } from '../engines/turn-events.js';
import { createOutbox, interrupted } from './turn-outbox.js';
import type { TurnContext } from './turn-permission.js';

/**
 * What a turn's events leave behind in the conversation: a message for each tool with what it was given and what
 * it said, for what the agent thought and said meanwhile, for each file that it changed and each permission that
 * a person was asked for. Messages are short; what does not fit becomes a managed file beside them. All of it is
 * bounded for the whole turn, and what is left out is counted.
 *
 * Events come faster than commits: while one is under way the next are gathered, and they leave together.
 */
export interface TurnRecord {
  /** Answers the id of the message that tells of it, where one does. */
  take(event: TurnEvent): string | undefined;
  /** A person was asked; `undefined` while undecided. */
  permission(asked: TurnEventOf<'permission.asked'>, decided?: { allow: boolean; message?: string }): void;
  /** What all of it has changed in the working folder. */
  changes(changed: TurnChanges): void;
  /** The turn is over: what still goes on was interrupted. Resolves when all is stored, or cannot be. */
  close(): Promise<void>;
}

/** Keeps a text that is too long for a message; answers how it is shown there, undefined where it cannot be kept. */
export type KeepText = (file: {
  readonly filename: string;
  readonly text: string;
}) => Promise<Json | undefined>;

/** Of the names of files in a message. */
const filesShownMax = 100;
const nameBytesMax = 512;

export interface RecordOptions {
  readonly turnId: string;
  readonly context: Pick<TurnContext, 'send'>;
  readonly keepText?: KeepText | undefined;
  /** Is this message stored as it will stay? For a turn whose events come again. Absent: none is. */
  readonly isStored?: (id: string) => boolean;
  readonly onFault: (error: unknown) => void;
}

const limits = {
  /** Of one message. */
  inlineBytesMax: 4 * 1024,
  remarkBytesMax: 16 * 1024,
  /** Of a turn. */
  messagesMax: 10_000,
  inlineTotalBytesMax: 16 * 1024 * 1024,
  filesMax: 50,
  filesTotalBytesMax: 8 * 1024 * 1024,
} as const;

/** `const record = createTurnRecord({turnId, context, …}); record.take(event); … await record.close()` */
export function createTurnRecord(options: RecordOptions): TurnRecord {
  const { turnId, keepText, onFault, isStored = () => false } = options;
  const outbox = createOutbox(options);
  const tools = new Map<string, ActivityEntry>();
  const asked = new Map<string, ActivityEntry>();
  const keeping = new Set<Promise<void>>();
  const open = new Set<string>();
  const left = {
    messages: limits.messagesMax,
    bytes: limits.inlineTotalBytesMax,
    files: limits.filesMax,
    fileBytes: limits.filesTotalBytesMax,
  };
  let meanwhile = { kind: 'remark' as 'remark' | 'thinking', seq: 0, text: '' };
  let omitted = 0;

  /** As much of a text as still fits. */
  function inline(text: string, bytesMax: number = limits.inlineBytesMax): string {
    const cut = firstBytes(text, Math.min(bytesMax, left.bytes));
    left.bytes -= Buffer.byteLength(cut);
    return cut;
  }

  function entry(
    kind: ActivityKind,
    seq: number | string,
    content: string,
    more: Partial<Omit<ActivityEntry, 'meta'>> & { readonly meta?: Readonly<Record<string, Json>> } = {},
  ): ActivityEntry {
    const { meta, ...rest } = more;
    return {
      id: `${turnId}:${seq}`,
      content,
      isOpen: false,
      ...rest,
      meta: { kind, turnId, ...meta },
    };
  }

  /** The session knows the places of so many that go on: one more is written when it has ended. */
  function put(message: ActivityEntry): string {
    const { id, isOpen } = message;
    if (isStored(id)) return id;
    if (!isOpen) open.delete(id);
    else if (!open.has(id) && open.size >= activityLimits.openMax) return id;
    else open.add(id);
    return outbox.put(message);
  }

  /** A new message, if one more may be; what is written again needs no new place. */
  function add(message: ActivityEntry): string | undefined {
    if (left.messages <= 0) {
      omitted += 1;
      return undefined;
    }
    left.messages -= 1;
    return put(message);
  }

  /** What was said or thought before something else happened. */
  function flush(): void {
    const { kind, seq, text } = meanwhile;
    meanwhile = { kind: 'remark', seq: 0, text: '' };
    if (text.trim() !== '') add(entry(kind, seq, inline(text, limits.remarkBytesMax)));
  }

  function say(kind: 'remark' | 'thinking', { seq, text }: { seq: number; text: string }): void {
    if (meanwhile.kind !== kind) flush();
    const isNew = meanwhile.text === '';
    const room = limits.remarkBytesMax - meanwhile.text.length;
    meanwhile = {
      kind,
      seq: isNew ? seq : meanwhile.seq,
      text: meanwhile.text + text.slice(0, Math.max(0, room)),
    };
  }

  function start({ seq, tool, toolId, title, input }: TurnEventOf<'tool.started'>): string | undefined {
    const unended = tools.get(toolId);
    if (unended !== undefined) put(interrupted(unended)); // its engine began again under the same id
    tools.delete(toolId);
    const message = entry('tool', seq, `Using ${tool}`, {
      toolCall: tool,
      toolId,
      isOpen: true,
      meta: { state: 'running', toolInput: inline(input), ...(title === undefined ? {} : { title }) },
    });
    const id = add(message);
    if (id !== undefined) tools.set(toolId, message);
    return id;
  }

  function finish(event: TurnEventOf<'tool.finished'>): string | undefined {
    const { seq, toolId, output, isError, exitCode, durationMs } = event;
    const begun = tools.get(toolId);
    tools.delete(toolId);
    const shown = inline(output);
    const message = {
      ...(begun ?? entry('tool', seq, 'Used a tool', { toolId })),
      isOpen: false,
    };
    const done = {
      ...message,
      meta: {
        ...message.meta,
        state: isError ? 'failed' : 'done',
        toolOutput: shown,
        ...(exitCode === undefined ? {} : { exitCode }),
        ...(durationMs === undefined ? {} : { durationMs }),
      },
    };
    if (shown.length === output.length) return written(done, begun);
    const bytes = Buffer.byteLength(output);
    const cut = { ...done, meta: { ...done.meta, toolOutputBytes: bytes } };
    if (keepText === undefined || left.files <= 0 || left.fileBytes < bytes) return written(cut, begun);
    left.files -= 1;
    left.fileBytes -= bytes;
    const id = written({ ...cut, isOpen: true }, begun);
    if (id !== undefined) keep(cut, `${done.toolCall ?? 'tool'}-${seq}.txt`, output, keepText);
    return id;
  }

  const written = (message: ActivityEntry, before: ActivityEntry | undefined): string | undefined =>
    before === undefined ? add(message) : put(message);

  function keep(message: ActivityEntry, filename: string, text: string, store: KeepText): void {
    if (isStored(message.id)) return;
    const kept = store({ filename, text })
      .catch((error: unknown): undefined => {
        onFault(error);
      })
      .then((media) => {
        put(media === undefined ? message : { ...message, media: [media] });
        keeping.delete(kept);
      });
    keeping.add(kept);
  }

  return {
    take(event) {
      switch (event.type) {
        case 'text':
          say('remark', event);
          return undefined;
        case 'thinking':
          say('thinking', event);
          return undefined;
        case 'tool.started':
          flush();
          return start(event);
        case 'tool.finished':
          return finish(event);
        case 'file.changed': {
          flush();
          const { path, change, diff } = event;
          return add(
            entry(
              'file-change',
              event.seq,
              `${change === 'changed' ? 'Changed' : change === 'added' ? 'Added' : 'Deleted'} ${path}`,
              {
                meta: { path, change, ...(diff === undefined ? {} : { diff: inline(diff) }) },
              },
            ),
          );
        }
        case 'permission.asked':
          flush(); // here, so that the same events always make the same messages
          return undefined;
        default:
          return undefined;
      }
    },
    permission(question, decided) {
      const { permissionId, tool, title, input, seq } = question;
      const before = asked.get(permissionId);
      const state = decided === undefined ? 'pending' : decided.allow ? 'allowed' : 'denied';
      const message =
        before ??
        entry('permission', seq, `Asked to use ${tool}: ${firstBytes(title, 1_024)}`, {
          toolCall: tool,
          meta: {
            permissionId: `${turnId}:${permissionId}`,
            toolInput: inline(JSON.stringify(input) ?? ''),
          },
        });
      const note = decided?.message === undefined ? {} : { note: firstBytes(decided.message, 1_024) };
      const now = {
        ...message,
        isOpen: decided === undefined,
        meta: { ...message.meta, state, ...note },
      };
      if (decided === undefined && add(now) !== undefined) asked.set(permissionId, now);
      else if (decided !== undefined) {
        asked.delete(permissionId);
        written(now, before);
      }
    },
    changes({ files, stat, patch }) {
      if (meanwhile.kind === 'thinking') flush(); // what was said last is the answer
      const count = `${files.length} file${files.length === 1 ? '' : 's'}`;
      const message = entry('changes', 'changes', `Changed ${count}`, {
        meta: {
          files: files.slice(0, filesShownMax).map((name) => inline(name, nameBytesMax)),
          stat: inline(stat),
        },
        isOpen: patch !== '' && keepText !== undefined,
      });
      if (add(message) === undefined || !message.isOpen || keepText === undefined) return;
      keep({ ...message, isOpen: false }, 'turn.patch', patch, keepText);
    },
    async close() {
      if (meanwhile.kind === 'thinking') flush(); // what was said last is the answer
      for (const message of [...tools.values(), ...asked.values()]) put(interrupted(message));
      await Promise.all(keeping);
      if (omitted > 0) put(entry('omitted', 0, `${omitted} more things that the agent did are not kept.`));
      await outbox.drained();
    },
  };
}
