import * as z from 'zod';

/**
 * A session in a bundle: what was said and done in it, and what it cost. Nothing of it is at work, and nothing of it
 * names a place of this machine: files stand under the hash of their bytes.
 */

/** Of one message, as JSON. */
export const messageCharsMax = 1_000_000;

const bundledMessage = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z0-9._:-]{1,64}$/),
    role: z.enum(['user', 'assistant', 'notification']),
    content: z.string(),
    /** Epoch milliseconds. */
    timestamp: z.int().min(0).max(8_640_000_000_000_000),
    /** The tool that it tells of, and the agent's own id of that call. */
    toolCall: z.string().max(200).optional(),
    toolId: z.string().max(200).optional(),
    /** Of what an agent did: what it was, and what the tool was given and answered. */
    meta: z.record(z.string().max(64), z.union([z.string(), z.number(), z.boolean()])).optional(),
    partial: z.boolean().optional(),
    /** Hashes of its attachments. */
    attachments: z.array(z.hex().length(64)).max(50).optional(),
  })
  .refine((message) => JSON.stringify(message).length <= messageCharsMax, {
    error: `must have at most ${messageCharsMax} characters`,
  });
export type BundledMessage = z.output<typeof bundledMessage>;

export const bundledFile = z.strictObject({
  sha256: z.hex().length(64),
  name: z.string().min(1).max(255),
  /** Base64; absent: it was too large for the file, or holds what looks like a key. */
  content: z.base64().optional(),
});
export type BundledFile = z.output<typeof bundledFile>;

export const wholeFile = bundledFile.required({ content: true });
export type WholeFile = z.output<typeof wholeFile>;

const words = (charsMax: number) => z.string().min(1).max(charsMax).optional();

export const bundledSession = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z0-9._:-]{1,200}$/),
    createdAt: z.iso.datetime(),
    lastActivity: z.iso.datetime().optional(),
    title: z.string().trim().min(1).max(200),
    employee: words(64),
    engine: words(64),
    model: words(200),
    effort: words(64),
    /** The three below are information: they may be no one here. */
    parent: words(200),
    workItem: words(200),
    status: words(32),
    archived: z.boolean().optional(),
    costUsd: z.number().min(0).max(1_000_000).optional(),
    turns: z.int().min(0).max(10_000_000).optional(),
    tokens: z
      .strictObject({ input: z.int().min(0), output: z.int().min(0), cached: z.int().min(0) })
      .optional(),
    /** So many of its messages stand in files that are imported before this one. */
    from: z.int().min(0).max(100_000_000).optional(),
    /** Messages behind these stand in files that are imported after this one. */
    more: z.boolean().optional(),
    /** So many older messages were left out. */
    omitted: z.int().min(0).optional(),
    messages: z.array(bundledMessage).max(50_000),
    attachments: z.array(bundledFile).max(2_000).optional(),
  })
  .refine(({ messages }) => new Set(messages.map(({ id }) => id)).size === messages.length, {
    path: ['messages'],
    error: 'must not hold the same id twice',
  });
export type BundledSession = z.output<typeof bundledSession>;
