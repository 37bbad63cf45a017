/** Where a conversation stands: by what the agent knows it, and its task that is not at its end. */
export interface Conversation {
  readonly contextId: string;
  /** Empty: the last task has ended. */
  readonly taskId: string;
}

/** As a session keeps it: `nameOf({ contextId: 'c-1', taskId: 't-1' })` → 'c-1/t-1'. Undefined for one that is too long. */
export function nameOf({ contextId, taskId }: Conversation): string | undefined {
  const name = `${encodeURIComponent(contextId)}/${encodeURIComponent(taskId)}`;
  return name.length <= charsMax && name !== '/' ? name : undefined;
}

/** The reverse; undefined for what no turn of ours has named. */
export function conversationOf(name: string | null): Conversation | undefined {
  const [context, task, ...rest] = name?.split('/') ?? [];
  if (context === undefined || task === undefined || rest.length > 0) return undefined;
  try {
    return { contextId: decodeURIComponent(context), taskId: decodeURIComponent(task) };
  } catch {
    return undefined;
  }
}

/** Of the name of a conversation in a record. */
const charsMax = 200;
