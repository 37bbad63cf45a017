import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/**
 * Why something stands where it stands, or what is asked of a person: the beginning of a long text with a way to all of
 * it, never a part that looks like the whole. Beneath it what one has to know beside.
 */
export function Cause({
  text,
  isCode = false,
  isBad = false,
  children,
}: {
  readonly text: string;
  readonly isCode?: boolean;
  readonly isBad?: boolean;
  readonly children?: ComponentChildren;
}) {
  const isOpen = useSignal(false);
  const beginning = beginningOf(text);
  const shown = isOpen.value ? text : beginning;
  return (
    <div class="cause">
      <p class={isBad ? 'bad' : ''}>
        {isCode && text !== '' ? <code>{shown}</code> : shown}
        {beginning !== text && (
          <>
            {!isOpen.value && ' … '}
            <button
              type="button"
              class="quiet"
              aria-expanded={isOpen.value}
              onClick={() => {
                isOpen.value = !isOpen.value;
              }}
            >
              {isOpen.value ? 'Show less' : `Show all ${text.length.toLocaleString('en')} characters`}
            </button>
          </>
        )}
      </p>
      {children !== undefined && <div class="cause-facts">{children}</div>}
    </div>
  );
}

/** A few lines: by what the text is and not by how it is drawn, so that nothing can hide behind a narrow window. */
function beginningOf(text: string): string {
  const lines = text.split('\n').slice(0, 4).join('\n');
  const cut = lines.length > charsMax ? lines.slice(0, charsMax) : lines;
  return cut.length < text.trimEnd().length ? cut : text;
}

const charsMax = 240;
