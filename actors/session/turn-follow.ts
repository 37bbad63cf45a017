import type { Json } from '../../machines/outputs.js';
import type { EffectContext } from '../contracts.js';
import type { Usage } from '../engines/engine.js';
import type { SpawnNote } from '../engines/process.js';
import { firstBytes } from '../engines/process/output.js';
import type { TurnCommand, TurnEvent, TurnEventOf } from '../engines/turn-events.js';
import type { Deltas } from './turn-deltas.js';
import { sentence } from './turn-outcome.js';
import type { permissionAsker } from './turn-permission.js';
import type { TurnRecord } from './turn-record.js';

/**
 * The gateway's side of a turn: what its events mean to watchers, to the session and to people, and the
 * commands that answer them.
 */
export interface TurnFollower {
  take(event: TurnEvent): void;
  readonly ended: Promise<TurnEventOf<'turn.ended'>>;
  /** How its processes are found, as noted last. */
  lastNote(): SpawnNote | undefined;
  /** What it said it has used, also when it ended in the middle. */
  usage(): Usage | undefined;
}

export interface FollowOptions {
  readonly turnId: string;
  readonly context: EffectContext;
  readonly deltas: Deltas;
  readonly record: TurnRecord;
  readonly permission: ReturnType<typeof permissionAsker>;
  /** Where it is found beside its processes: part of each note. */
  readonly whereabouts?: { readonly [member: string]: Json };
  /** Its other side. */
  readonly command: (command: TurnCommand) => void;
}

/** `const follower = followTurn({…}); host.post = follower.take; const { result } = await follower.ended` */
export function followTurn({
  turnId,
  context,
  deltas,
  record,
  permission,
  whereabouts,
  command,
}: FollowOptions): TurnFollower {
  let note: SpawnNote | undefined;
  let usage: Usage | undefined;
  let end: (event: TurnEventOf<'turn.ended'>) => void = () => undefined;
  const ended = new Promise<TurnEventOf<'turn.ended'>>((resolve) => {
    end = resolve;
  });

  function acknowledge(seq: number, stored: Promise<unknown>): void {
    stored.then(
      () => command({ type: 'acknowledge', seq }),
      (error: unknown) => command({ type: 'acknowledge', seq, fault: sentence(error) }),
    );
  }

  async function ask(event: TurnEventOf<'permission.asked'>): Promise<void> {
    const { permissionId, tool, title, input, uses, isDecided = false } = event;
    const question = { id: permissionId, tool, title, input, ...(uses === undefined ? {} : { uses }) };
    const answer = await permission({ ...question, isDecided }, () => record.permission(event));
    if (answer.isAsked) record.permission(event, answer);
    if (isDecided) return;
    command({
      type: 'decide',
      permissionId,
      ...(answer.allow ? { decision: 'allow' } : { decision: 'deny', message: answer.message }),
    });
  }

  return {
    ended,
    lastNote: () => note,
    usage: () => usage,
    take(event) {
      const messageId = record.take(event);
      const named = messageId === undefined ? {} : { messageId };
      switch (event.type) {
        case 'text':
        case 'thinking':
          return deltas.add(event.type, event.text);
        case 'notice':
          return deltas.add('status', event.text);
        case 'tool.started':
          return deltas.add('tool_use', event.tool, {
            ...named,
            toolName: event.tool,
            toolId: event.toolId,
            input: excerpt(event.input),
            ...(event.title === undefined ? {} : { title: event.title }),
          });
        case 'tool.finished':
          return deltas.add('tool_result', excerpt(event.output), {
            ...named,
            toolId: event.toolId,
            isError: event.isError,
          });
        case 'file.changed':
          return deltas.add('status', `${event.change} ${event.path}`, named);
        case 'usage':
          usage = event.usage;
          return;
        case 'permission.asked':
          return void ask(event);
        case 'conversation.named':
          // the session may have moved on
          context.send({ type: 'turn.native', turnId, nativeId: event.nativeId }).catch(() => undefined);
          return;
        case 'process.noted':
          // as the spawner wrote it
          note = event.note as unknown as SpawnNote;
          return acknowledge(event.seq, context.checkpoint({ ...note, ...whereabouts }));
        case 'turn.ended':
          return end(event);
      }
    },
  };
}

const excerpt = (text: string): string => firstBytes(text, deltaBytesMax);
const deltaBytesMax = 4 * 1024;
