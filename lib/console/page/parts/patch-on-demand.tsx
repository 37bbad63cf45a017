import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { said } from '../../../page/ask.js';
import { Patch } from './patch.js';

/** A line that opens a patch beneath it, read when it is opened. */
export function PatchOnDemand({
  label,
  read,
  opened = false,
  before,
  after,
  children,
}: {
  /** Of the patch, for those who do not see the line. */
  readonly label: string;
  readonly read: (signal: AbortSignal) => Promise<string>;
  readonly opened?: boolean;
  /** Beside the line, and no part of what opens it. */
  readonly before?: ComponentChildren;
  readonly after?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const open = useSignal(opened);
  const text = useSignal<string | undefined>(undefined);
  const error = useSignal<string | undefined>(undefined);
  useEffect(() => {
    if (!open.value) return;
    const end = new AbortController();
    error.value = undefined;
    void read(end.signal).then(
      (found) => {
        if (!end.signal.aborted) text.value = found;
      },
      (failed: unknown) => {
        if (!end.signal.aborted) error.value = said(failed);
      },
    );
    return () => end.abort();
  }, [open.value]);
  return (
    <>
      <div class="file-head">
        {before}
        <button
          type="button"
          class="file-open"
          aria-expanded={open.value}
          onClick={() => {
            open.value = !open.value;
          }}
        >
          {children}
        </button>
        {after}
      </div>
      {open.value && error.value !== undefined && (
        <p class="bad small" role="alert">
          {error.value}
        </p>
      )}
      {open.value && text.value !== undefined && (
        <pre tabIndex={0} role="group" aria-label={`Patch: ${label}`}>
          <Patch text={text.value} />
        </pre>
      )}
    </>
  );
}
