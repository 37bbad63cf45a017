import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { load, said } from '../../../page/ask.js';
import { Coloured } from './code.js';
import { Markdown } from './markdown.js';

/** What is in a file: a picture, Markdown, a text; of everything else that it cannot be shown. */
export function FilePreview({
  id,
  name,
  size,
  close,
}: {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly close: () => void;
}) {
  const shown = useSignal<Shown | undefined>(undefined);
  useEffect(() => {
    const end = new AbortController();
    let address: string | undefined;
    void read(id, size, end.signal)
      .catch((error: unknown): Shown => ({ problem: said(error) }))
      .then((found) => {
        if (end.signal.aborted) return;
        address = found.picture;
        shown.value = found;
      });
    return () => {
      end.abort();
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [id]);
  const { picture, text, problem } = shown.value ?? {};
  return (
    <section class="preview" aria-label={`Preview of ${name}`} data-preview>
      <h3>
        <span class="clip">{name}</span>
        <button type="button" class="quiet" onClick={close}>
          Close
        </button>
      </h3>
      {shown.value === undefined && <p class="soft">Loading …</p>}
      {problem !== undefined && <p class="empty">{problem}</p>}
      {picture !== undefined && <img src={picture} alt={name} />}
      {text !== undefined &&
        (/\.(?:md|markdown)$/i.test(name) ? (
          <Markdown text={text} />
        ) : (
          <pre class="plain" tabIndex={0} role="group" aria-label={name}>
            <Coloured text={text} language={/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ''} />
          </pre>
        ))}
    </section>
  );
}

interface Shown {
  /** The address of a picture. */
  readonly picture?: string;
  readonly text?: string;
  readonly problem?: string;
}

const pictureBytesMax = 20 * 1_048_576;
const textBytesMax = 524_288;

/** By request and not by address: the tab's token is no cookie. */
async function read(id: string, size: number, signal: AbortSignal): Promise<Shown> {
  if (size > pictureBytesMax) return { problem: 'It is too large to be shown here. Save it to open it.' };
  const blob = await load(`/api/files/${encodeURIComponent(id)}`, signal);
  if (signal.aborted) return {};
  if (isPicture(blob.type)) return { picture: URL.createObjectURL(blob) };
  if (blob.size > textBytesMax) return { problem: 'It is too large to be shown here. Save it to open it.' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await blob.arrayBuffer());
    if (!text.includes('\0')) return { text };
  } catch {
    // not UTF-8
  }
  return { problem: 'It is neither a picture nor a text. Save it to open it.' };
}

/** No picture that could carry a script is drawn as one. */
export const isPicture = (type: string): boolean => /^image\/(?:png|jpeg|gif|webp|avif)$/.test(type);

export const safeType = (type: string): string => (isPicture(type) ? type : 'application/octet-stream');
