import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { access } from './access.js';
import { draftCount, dropDrafts } from './draft.js';
import { enter, present } from './enter.js';
import { isMounted } from './base.js';
import { Mark } from './frame.js';

/** Who is not known yet stands here: it says what is missing and how to come by it. `to`: `inspector`. */
export function Gate({ to }: { readonly to: string }) {
  const field = useRef<HTMLInputElement>(null);
  const state = access.value;
  if (state === 'loading')
    return (
      <main class="gate" aria-busy="true">
        <Mark />
        <p class="soft">Loading …</p>
      </main>
    );
  if (state === 'unreachable') {
    return (
      <main class="gate">
        <Mark />
        <h1>The gateway does not answer</h1>
        <p>
          Is it running? <code>troupe start</code> starts it, <code>troupe status</code> shows where it is.
        </p>
        <button type="button" class="primary" onClick={() => void enter()}>
          Try again
        </button>
      </main>
    );
  }
  if (state === 'intercepted')
    return (
      <main class="gate">
        <Mark />
        <h1>A proxy wants you to sign in</h1>
        <p>
          Something between this browser and the gateway answers in its place. Sign in there, then reload this
          page.
        </p>
        <button type="button" class="primary" onClick={() => location.reload()}>
          Reload
        </button>
      </main>
    );
  if (isMounted)
    return (
      <main class="gate">
        <Mark />
        <h1>You are signed out</h1>
        <p>Sign in to the application again, then reload this page.</p>
      </main>
    );
  return (
    <main class="gate">
      <Mark />
      <h1>Sign in</h1>
      <p>
        On the gateway's machine, <code>troupe open</code> pairs this browser. Or enter the operator's token:{' '}
        <code>token</code> in <code>gateway.json</code> of its home.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (field.current) void present(field.current.value);
        }}
      >
        <label for="token">Operator's token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          minLength={20}
          aria-describedby="token-note"
          aria-invalid={state === 'wrong'}
          autofocus
        />
        <button type="submit" class="primary">
          Open {to}
        </button>
      </form>
      <p id="token-note" role="status" class={state === 'wrong' ? 'bad' : 'soft'}>
        {state === 'wrong'
          ? 'Invalid token. Each new home has its own token.'
          : 'The token is kept in this tab only.'}
      </p>
      <KeptTexts />
    </main>
  );
}

/** Who is not let in any more, or has borrowed the device, can take away what lies on it. */
function KeptTexts() {
  const count = useSignal(draftCount());
  if (count.value === 0) return null;
  return (
    <p class="soft small" data-kept-texts>
      {count.value === 1 ? 'One unsaved text is' : `${count.value} unsaved texts are`} kept on this device.{' '}
      <button
        type="button"
        class="quiet"
        onClick={() => {
          dropDrafts();
          count.value = 0;
        }}
      >
        Delete {count.value === 1 ? 'it' : 'them'}
      </button>
    </p>
  );
}
