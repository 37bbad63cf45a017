import { useAction } from '../../../page/action.js';
import { client, must } from '../../../page/gateway.js';

/** Engines that were installed meanwhile are found at once. */
export function LookAgain() {
  const { message, busy, attempt } = useAction();
  return (
    <>
      <button
        type="button"
        class="quiet"
        disabled={busy}
        onClick={() =>
          void attempt(async () => {
            const { engines } = await must(client.post('/api/engines/refresh'));
            const found = Object.values(engines as Readonly<Record<string, { readonly available: boolean }>>);
            return `${found.filter(({ available }) => available).length} of ${found.length} found.`;
          }, 'Looking …')
        }
      >
        Look again
      </button>
      <span class="soft small" role="status" data-looked>
        {message}
      </span>
    </>
  );
}
