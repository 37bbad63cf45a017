import { z } from 'zod';
import type { Json } from '../../machines/outputs.js';
import { deeperThan, jsonDepthMax } from '../../machines/text.js';
import type { TurnEvent } from '../../actors/engines/turn-events.js';

/**
 * What a worker on another machine may say. It is not trusted: every frame is judged member by member, nothing that is
 * not named here passes, and all of it is bounded. One that is wrong ends the connection.
 */
const text = (charactersMax: number) => z.string().max(charactersMax);
const name = text(200);
const words = text(1_100_000);
const seq = z.int().min(1).max(1e9);
const count = z.int().min(0).max(1e12);
const usage = z.object({
  inputTokens: count.optional(),
  outputTokens: count.optional(),
  cachedTokens: count.optional(),
  costUsd: z.number().min(0).max(100_000).optional(),
  contextTokens: count.optional(),
  contextWindow: count.optional(),
});
const path = text(4_096);
const isShort = (value: unknown): boolean => JSON.stringify(value).length <= 1_000_000;

const event = z.discriminatedUnion('type', [
  z.object({ seq, type: z.literal('text'), text: words }),
  z.object({ seq, type: z.literal('thinking'), text: words }),
  z.object({ seq, type: z.literal('notice'), text: text(5_000) }),
  z.object({
    seq,
    type: z.literal('tool.started'),
    toolId: name,
    tool: name,
    title: text(5_000).optional(),
    input: text(70_000),
  }),
  z.object({
    seq,
    type: z.literal('tool.finished'),
    toolId: name,
    output: words,
    isError: z.boolean(),
    exitCode: z.int().optional(),
    durationMs: z.int().min(0).optional(),
  }),
  z.object({
    seq,
    type: z.literal('file.changed'),
    path,
    change: z.enum(['added', 'changed', 'deleted']),
    diff: text(70_000).optional(),
  }),
  z.object({ seq, type: z.literal('usage'), usage }),
  // A name of its own, never a path: the gateway's engines make names of files of it
  z.object({
    seq,
    type: z.literal('conversation.named'),
    nativeId: z.string().regex(/^[A-Za-z0-9][\w.:-]{0,199}$/),
  }),
  z.object({
    seq,
    type: z.literal('permission.asked'),
    permissionId: z.string().regex(/^p\d{1,9}$/),
    tool: name,
    title: text(5_000),
    // It came as JSON: to judge each value of it once more took seconds
    input: z.custom<Json>(
      (value) => value !== undefined && !deeperThan(value, 2 * jsonDepthMax) && isShort(value),
    ),
    uses: z
      .discriminatedUnion('tool', [
        z.object({ tool: z.literal('Bash'), command: text(100_000) }),
        z.object({ tool: z.enum(['Edit', 'Read']), paths: z.array(path).max(1_000) }),
        z.object({ tool: z.literal('WebFetch'), host: text(300) }),
      ])
      .optional(),
    isDecided: z.literal(true).optional(),
  }),
  z.object({ seq, type: z.literal('process.noted') }),
  z.object({
    seq,
    type: z.literal('turn.ended'),
    result: z.object({
      outcome: z.enum(['succeeded', 'failed', 'interrupted', 'rate-limited']),
      text: text(300_000),
      usage: usage.optional(),
      error: text(5_000).optional(),
      resetAt: z.number().min(0).max(8e15).optional(),
    }),
  }),
]);

const turnId = name;
const list = z.array(text(1_024)).max(64);
const frame = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('ready'),
    pid: z.int().min(1).max(1e9),
    startedAt: z.number().min(0).max(8e15),
    running: z.int().min(0).max(10_000),
    protocol: z.int().min(1).max(1e6).optional(),
    version: text(50).optional(),
    offer: z.object({
      machine: text(100),
      slots: z.int().min(1).max(64),
      labels: list,
      engines: list,
      roots: list,
      work: text(1_024),
    }),
  }),
  z.object({
    type: z.literal('prepared'),
    turnId,
    fault: text(5_000).optional(),
    cwd: path,
    sandbox: z.object({ level: text(20), asked: text(20), reason: text(1_000).nullable() }),
    notices: z.array(text(5_000)).max(8),
  }),
  z.object({ type: z.literal('attached'), turnId, isHere: z.boolean() }),
  z.object({ type: z.literal('event'), turnId, event }),
  z.object({ type: z.literal('caughtUp'), turnId, quietMs: z.number().min(0).max(8e15).optional() }),
  z.object({ type: z.literal('beat'), n: z.int().min(1).max(1e12) }),
  z.object({ type: z.literal('limits') }),
  z.object({ type: z.literal('fault'), engine: name, message: text(100_000) }),
]);

/** A frame that has passed. */
export type RemoteFrame = z.output<typeof frame>;
export type RemoteEvent = z.output<typeof event>;
export type RemoteReady = Extract<RemoteFrame, { type: 'ready' }>;

/** Undefined for anything else. `remoteFrame('{"type":"beat","n":1}')` */
export function remoteFrame(said: string): RemoteFrame | undefined {
  try {
    return frame.safeParse(JSON.parse(said)).data;
  } catch {
    return undefined;
  }
}

/** More than the longest event, in JSON. */
export const remoteFrameBytesMax = 8 * 1024 * 1024;

/**
 * As the gateway takes it. How processes are found there is that machine's matter: what is noted here names none, or a
 * gateway would be made to end what is none of theirs.
 */
export function eventOf(
  said: RemoteEvent,
  turn: { readonly turnId: string; readonly tokenHash: string },
): TurnEvent {
  return said.type === 'process.noted'
    ? { ...said, note: { spawnId: turn.turnId, tokenHash: turn.tokenHash } }
    : (said as TurnEvent); // as the schema says
}
