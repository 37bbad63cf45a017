import { assign, emit, setup } from 'xstate';
import { callerName, isTrusted, type Authority, type Caller } from '../caller.js';
import { publish, type Stamp, type Output } from '../outputs.js';
import { refuse, type Refusal } from '../refusals.js';
import { checkShape } from '../shape.js';

/**
 * A managed file: what is known of bytes that lie in the home.
 *
 * **What lives.** Name, size, hash, type and place of the bytes, and whose upload it was. The bytes are
 * written before the file is created and removed after it has ended, so a file that is `stored` has its bytes.
 *
 * **What can happen.** A person removes it.
 *
 * **What can never happen.** Other bytes under the same id. An agent that removes a file. A removed file that
 * is listed.
 */
export interface FileInput {
  /** Id of the actor, and of the file in every route. */
  readonly id: string;
  /** Epoch milliseconds of the upload. */
  readonly at: number;
  /** Who uploads it. */
  readonly by?: Caller;
  /** As the uploader named it, without folders. */
  readonly filename: string;
  /** Bytes. */
  readonly size: number;
  /** As the uploader said, or made of the name. */
  readonly mimetype: string;
  /** Below the home: `files/<id>/<name>` or `uploads/<date>/<session>/<id>-<name>`. */
  readonly path: string;
  /** Of the bytes, hex. */
  readonly sha256: string;
  /** Session that it came with; null: none. */
  readonly sessionId: string | null;
}

/** What is remembered of a managed file; its bytes lie elsewhere. */
export interface FileContext extends Omit<FileInput, 'at' | 'by'> {
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Who uploaded it, as `callerName` writes it. */
  readonly createdBy: string;
}

/** What a managed file takes. */
export type FileEvent = Stamp & { readonly type: 'file.remove' };

/**
 * Who may do this with a file. Answers the refusal, or undefined for yes; never throws.
 * @example const policy = (event: FileEvent & Stamp) => filePolicy(event, authorityOf(event));
 */
export function filePolicy(event: FileEvent, { onBehalfOf }: Authority): Refusal | undefined {
  if (event.type !== 'file.remove')
    return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  return isTrusted(onBehalfOf) ? undefined : refuse('FORBIDDEN', {}, 'Agents may not remove files.');
}

const checkInput = checkShape({
  filename: 'string',
  size: 'number',
  mimetype: 'string',
  path: 'string',
  sha256: 'string',
  sessionId: 'string?',
});

/**
 * May a file be kept with this input? Answers the refusal, or undefined for yes; never throws.
 * @example const validateInput = (input: FileInput) => admitFile(input);
 */
export function admitFile(input: FileInput): Refusal | undefined {
  const wrong = checkInput(input);
  if (wrong !== undefined)
    return refuse(
      'BAD_REQUEST',
      {},
      `Invalid file: ${wrong.replace('the context', 'the input').replace('context.', '')}.`,
    );
  return input.path.length > 1_000 || input.filename.length > 255
    ? refuse('BAD_REQUEST', { path: 'filename' }, 'The name is too long.')
    : undefined;
}

/**
 * The statechart of a managed file.
 * @example const chart = fileMachine.root.states;
 */
export const fileMachine = setup({
  types: {} as { context: FileContext; events: FileEvent; input: FileInput; emitted: Output },
  actions: {
    publish: emit(({ context: { id, filename, size, sessionId } }, { event }: { event: string }) =>
      publish(event, { id, filename, size, sessionId }),
    ),
  },
}).createMachine({
  id: 'file',
  context: ({ input }) => ({
    id: input.id,
    filename: input.filename,
    size: input.size,
    mimetype: input.mimetype,
    path: input.path,
    sha256: input.sha256,
    sessionId: input.sessionId,
    createdAt: input.at,
    createdBy: callerName(input.by ?? { type: 'operator' }),
  }),
  initial: 'stored',
  states: {
    stored: {
      entry: { type: 'publish', params: { event: 'file:uploaded' } },
      on: { 'file.remove': 'removed' },
    },
    /** A name may say as much as the bytes did. */
    removed: {
      type: 'final',
      entry: [{ type: 'publish', params: { event: 'file:deleted' } }, assign({ filename: '', path: '' })],
    },
  },
});
