import { useSignal } from '@preact/signals';
import { useAction } from '../../../page/action.js';
import { ask } from '../../../page/ask.js';
import { isMounted, readOnly } from '../../../page/base.js';
import type { ActorKey } from '../../../../machines/outputs.js';

/** A link by which a receiver of Stately watches this actor: it opens once, within a minute. */
export function StatelyLink({ actor: { kind, id } }: { readonly actor: ActorKey }) {
  const { message, busy, attempt } = useAction();
  const address = useSignal<string | undefined>(undefined);
  if (isMounted || readOnly !== undefined) return null; // an application's own page has no such sockets
  const create = async (): Promise<void> => {
    const { path } = await ask<{ readonly path: string }>('/api/inspect/stately-links', {
      post: { kinds: [kind], ids: [id] },
    });
    address.value = `${location.origin.replace(/^http/, 'ws')}${path}`;
  };
  return (
    <div class="stately-link">
      <button type="button" disabled={busy} onClick={() => void attempt(create)}>
        Link for Stately
      </button>
      {address.value !== undefined && (
        <label>
          For <code>createWebSocketReceiver</code>; it opens once, within a minute.
          <input readOnly value={address.value} onFocus={(event) => event.currentTarget.select()} />
        </label>
      )}
      {message !== '' && (
        <small class="bad" role="alert">
          {message}
        </small>
      )}
    </div>
  );
}
