import { useSignal } from '@preact/signals';
import { Component } from 'preact';
import { useEffect } from 'preact/hooks';
import { load } from '../../../page/ask.js';
import { dateAndTime, minuteOf, withUtc } from '../../../page/clock.js';
import type { Message } from '../session.js';
import { safeType } from './file-preview.js';
import { Markdown } from './markdown.js';
import { ToolCard, type ToolUse } from './tool-card.js';

interface Row {
  readonly message: Message;
  /** Who speaks where it is not the viewer. */
  readonly agent: string;
}

/** One message of a conversation. Drawn once; again only where the message itself changed. */
export class MessageRow extends Component<Row> {
  override shouldComponentUpdate(next: Row): boolean {
    return next.message !== this.props.message || next.agent !== this.props.agent;
  }

  override render() {
    return <Shown {...this.props} />;
  }
}

function Shown({ message, agent }: Row) {
  const use = toolUseOf(message);
  if (use !== undefined)
    return (
      <li class="message tool-line" data-message={message.id}>
        <ToolCard use={use} />
      </li>
    );
  const mine = message.role === 'user';
  return (
    <li class={`message ${message.role}`} data-message={message.id}>
      <p class="by">
        <b>{mine ? 'You' : message.role === 'notification' ? 'Notice' : agent}</b>
        <time class="soft num" title={withUtc(message.timestamp)}>
          {minuteOf(message.timestamp)}
        </time>
        {message.partial === true && <span class="state wait">cut off</span>}
      </p>
      {mine ? <div class="prose said">{message.content}</div> : <Markdown text={message.content} />}
      {message.media !== undefined && message.media.length > 0 && (
        <ul class="media">
          {message.media.map((one, n) => (
            <li key={n}>
              <Attached media={one} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** What an agent did and the gateway kept as a message: the use of a tool, a file that it changed. */
function toolUseOf({ id, content, toolCall, timestamp, meta }: Message): ToolUse | undefined {
  const { kind, state, toolInput, path, change, diff, note, exitCode, durationMs } = membersOf(meta);
  const use = { id, tookMs: undefined, exit: undefined };
  if (kind === 'file-change' || kind === 'changes')
    return {
      ...use,
      tool: typeof change === 'string' ? change : 'Changes',
      input: path ?? content,
      output: typeof diff === 'string' ? { patch: diff } : undefined,
      state: 'done',
    };
  if (typeof toolCall !== 'string') return undefined;
  if (kind === 'permission')
    return {
      ...use,
      tool: `Permission for ${toolCall}`,
      input: toolInput,
      output: note,
      state: state === 'allowed' ? 'done' : state === 'pending' ? 'running' : 'failed',
      word: state === 'pending' ? 'asked' : String(state),
    };
  return {
    ...use,
    tool: toolCall,
    input: toolInput,
    output: outputOf(membersOf(meta)),
    exit: typeof exitCode === 'number' ? exitCode : undefined,
    tookMs: typeof durationMs === 'number' ? durationMs : undefined,
    since: timestamp,
    state:
      state === 'running' ? 'running' : state === 'failed' || state === 'interrupted' ? 'failed' : 'done',
  };
}

/** What a tool said; of a result that was dropped the beginning, and that there was more. */
function outputOf({ toolOutput, toolOutputBytes, droppedAt }: Readonly<Record<string, unknown>>): unknown {
  if (typeof droppedAt !== 'number') return toolOutput;
  const bytes = `${Number(toolOutputBytes).toLocaleString('en')} bytes`;
  return `${String(toolOutput)}\n… of ${bytes}; the rest was dropped: ${dateAndTime(droppedAt)}`;
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/** A file that came with a message: a picture is shown, everything else is a name to save. */
function Attached({ media }: { readonly media: Readonly<Record<string, unknown>> }) {
  const url = typeof media['url'] === 'string' ? media['url'] : '';
  const name = typeof media['name'] === 'string' ? media['name'] : 'file';
  const shown = useSignal<string | undefined>(undefined);
  const isPicture = media['type'] === 'image' && url.startsWith('/api/files/');
  useEffect(() => {
    if (!isPicture) return;
    const end = new AbortController();
    let address: string | undefined;
    // By request and not by address: the tab's token is no cookie
    void load(url, end.signal)
      .then((blob) => {
        if (end.signal.aborted) return;
        address = URL.createObjectURL(new Blob([blob], { type: safeType(blob.type) }));
        shown.value = address;
      })
      .catch(() => undefined);
    return () => {
      end.abort();
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [url]);
  if (shown.value !== undefined) return <img src={shown.value} alt={name} />;
  return <span class="file">{name}</span>;
}
