import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { highlight, Piece } from '../highlight.js';
import { Patch } from './patch.js';

/** A block of code in its colours; of a patch the lines that come and go are coloured. */
export function Code({ text, language }: { readonly text: string; readonly language: string }) {
  return (
    <figure class="code">
      {language !== '' && <figcaption>{language}</figcaption>}
      <pre tabIndex={0} role="group" aria-label={language === '' ? 'Code' : `Code, ${language}`}>
        {language === 'diff' || language === 'patch' ? (
          <code>
            <Patch text={text} />
          </code>
        ) : (
          <Coloured text={text} language={language.toLowerCase()} />
        )}
      </pre>
    </figure>
  );
}

/**
 * Code in the colours of its language, once it is on the screen; until then, and where no one knows the language, as
 * it is. While it streams its end is without colours, and is read again twice a second at most.
 */
export function Coloured({ text, language }: { readonly text: string; readonly language: string }) {
  const place = useRef<HTMLElement>(null);
  const isSeen = useSignal(false);
  const shown = useSignal(recall(text, language));
  const readAt = useRef(-Infinity);
  useEffect(() => {
    if (place.current === null) return;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      isSeen.value = true;
      observer.disconnect();
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (!isSeen.value || language === '' || !isColoured(text) || shown.value?.text === text) return;
    let isOver = false;
    const read = async (): Promise<void> => {
      const found = await colour(text, language, shown.value?.text);
      if (isOver || found === undefined) return;
      readAt.current = performance.now();
      shown.value = found;
    };
    const timer = setTimeout(() => void read(), readAt.current + restMs - performance.now());
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text, language, isSeen.value]);
  const { text: before, pieces } = shown.value ?? { text: '', pieces: [] };
  return (
    <code ref={place}>
      {text.startsWith(before) ? (
        <>
          {pieces.map(({ text: piece, tone }, n) =>
            tone === undefined ? (
              piece
            ) : (
              <span key={n} class={`code-${tone}`}>
                {piece}
              </span>
            ),
          )}
          {text.slice(before.length)}
        </>
      ) : (
        text
      )}
    </code>
  );
}

/** Beyond this colours would hold the page up: what looks for a link in Markdown looks through the line each time. */
const charsMax = 30_000;
const lineCharsMax = 1_000;
const isColoured = (text: string): boolean =>
  text.length <= charsMax && text.split('\n').every(({ length }) => length <= lineCharsMax);
const restMs = 500;

interface Read {
  readonly text: string;
  readonly pieces: readonly Piece[];
}

/** What was read: an answer that is stored takes the place of the one that streamed, and looks the same at once. */
const memory = new Map<string, Read>();
const memoryMax = 100;

const nameOf = (text: string, language: string): string => `${language}\n${text}`;
const recall = (text: string, language: string): Read | undefined => memory.get(nameOf(text, language));

let loading: Promise<typeof highlight> | undefined;

/** `before`: the same block when it was shorter, which is not needed any more. */
async function colour(text: string, language: string, before: string | undefined): Promise<Read | undefined> {
  const known = recall(text, language);
  if (known !== undefined) return known;
  loading ??= import('../highlight.js').then((part) => part.highlight);
  const read = await loading.catch(() => {
    loading = undefined; // asked for again by the next code that is seen
    return undefined;
  });
  const pieces = read?.(text, language);
  if (pieces === undefined) return undefined;
  if (before !== undefined && text.startsWith(before)) memory.delete(nameOf(before, language));
  const found = { text, pieces };
  memory.set(nameOf(text, language), found);
  const [oldest] = memory.keys();
  if (memory.size > memoryMax && oldest !== undefined) memory.delete(oldest);
  return found;
}
