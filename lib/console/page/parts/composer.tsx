import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { createFiles } from '../../../client/files.js';
import { useAction } from '../../../page/action.js';
import { client, must } from '../../../page/gateway.js';

/**
 * Where one writes to an agent: Enter sends, Shift+Enter begins a line; files are dropped, pasted or chosen.
 * What was written stays until the gateway has taken it, and per conversation while the page is open.
 */
export function Composer({
  name,
  placeholder,
  send,
  busyWord,
}: {
  /** Names the draft: a session's id, or `new`. */
  readonly name: string;
  readonly placeholder: string;
  readonly send: (text: string, attachments: readonly string[]) => Promise<void>;
  /** What sending means while the agent works. */
  readonly busyWord?: string | undefined;
}) {
  const text = useSignal(drafts.get(name) ?? '');
  useEffect(() => {
    const take = (given: string): void => {
      if (given === name) text.value = drafts.get(name) ?? '';
    };
    writers.add(take);
    return () => void writers.delete(take);
  }, [name]);
  const uploads = useRef<File[]>([]);
  const files = useSignal<readonly Attachment[]>([]);
  const over = useSignal(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const { message, busy, attempt } = useAction();
  useEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = 'auto';
    element.style.height = `${Math.min(element.scrollHeight + 2, 280)}px`;
  }, [text.value]);
  const change = (value: string): void => {
    text.value = value;
    drafts.set(name, value);
  };
  /** One after the other: what is dropped while another is on its way goes after it. */
  const attach = (chosen: Iterable<File>): void => {
    uploads.current.push(...chosen);
    void attempt(async () => {
      const failures: unknown[] = [];
      for (let file = uploads.current.shift(); file !== undefined; file = uploads.current.shift()) {
        const uploaded = await upload(file).catch((error: unknown) => void failures.push(error));
        if (uploaded) files.value = [...files.value, uploaded];
      }
      if (failures.length > 0) throw failures[0];
    }, 'Uploading …');
  };
  useEffect(() => {
    if (!busy && uploads.current.length > 0) attach([]); // they came while a message was sent
  }, [busy]);
  const submit = (): void => {
    if (text.value.trim() === '' || busy) return;
    void attempt(async () => {
      await send(
        text.value,
        files.value.map(({ id }) => id),
      );
      change('');
      files.value = [];
      field.current?.focus();
    });
  };
  return (
    <form
      class={`composer${over.value ? ' over' : ''}`}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        over.value = true;
      }}
      onDragLeave={() => {
        over.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        over.value = false;
        attach(event.dataTransfer?.files ?? []);
      }}
    >
      {files.value.length > 0 && (
        <ul class="attached" aria-label="Files that go with the message">
          {files.value.map(({ id, name: file }) => (
            <li key={id}>
              <span class="clip">{file}</span>
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${file}`}
                onClick={() => {
                  files.value = files.value.filter((one) => one.id !== id);
                }}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={field}
        rows={1}
        value={text.value}
        placeholder={placeholder}
        aria-label={placeholder}
        maxLength={200_000}
        onInput={(event) => change(event.currentTarget.value)}
        onPaste={(event) => {
          const pasted = [...(event.clipboardData?.files ?? [])];
          if (pasted.length === 0) return;
          event.preventDefault();
          attach(pasted);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          submit();
        }}
      />
      <p class="ways">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-hidden="true"
          tabIndex={-1}
          onChange={(event) => attach(event.currentTarget.files ?? [])}
        />
        <button type="button" class="quiet" onClick={() => picker.current?.click()}>
          Attach
        </button>
        <span class={`small ${message === '' || busy ? 'soft' : 'bad'}`} role="status">
          {message || (busyWord ?? '')}
        </span>
        <button type="submit" class="primary end" disabled={busy || text.value.trim() === ''}>
          Send
        </button>
      </p>
    </form>
  );
}

const drafts = new Map<string, string>();
const writers = new Set<(name: string) => void>();

/** What was taken back is written again, below what is there. */
export function writeAgain(name: string, words: string): void {
  drafts.set(name, [drafts.get(name) ?? '', words].filter((text) => text.trim() !== '').join('\n\n'));
  for (const take of writers) take(name);
}

interface Attachment {
  readonly id: string;
  readonly name: string;
}

async function upload(file: File): Promise<Attachment> {
  const { id, filename } = await must(createFiles(client).upload(file));
  return { id, name: filename };
}
