import { useAction } from '../../../page/action.js';
import { client, must } from '../../../page/gateway.js';

/**
 * Engines that were installed meanwhile are found at once, without a restart; what was found is said beside the button,
 * and the lists of engines are read again by themselves.
 */
export function RefreshEngines() {
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
          }, 'Searching …')
        }
      >
        Search again
      </button>
      <span class="soft small" role="status" data-refreshed>
        {message}
      </span>
    </>
  );
}
