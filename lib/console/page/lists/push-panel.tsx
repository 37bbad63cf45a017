import { useSignal } from '@preact/signals';
import { useAction } from '../../../page/action.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { subscribe, unsubscribe, whyNoPush } from '../push.js';

/** Whether this browser is notified of what waits; where it cannot be, what else there is. */
export function PushPanel() {
  const changes = useSignal(0);
  const state = useLoaded(`push ${changes.value}`, () => must(client.get('/api/push')), {
    touches: named(/^(?:device|config):/),
  });
  const { message, busy, attempt } = useAction();
  const why = whyNoPush();
  const change = (action: () => Promise<string>): void =>
    void attempt(async () => {
      const said = await action();
      changes.value += 1;
      return said;
    });
  return (
    <section class="panel" aria-labelledby="push-title">
      <h2 id="push-title">Notifications</h2>
      <p class="small" role="status">
        {message}
      </p>
      {why === undefined ? (
        <Answered loaded={state}>
          {({ publicKey, subscribed, enabled }) =>
            !enabled ? (
              <p class="empty">
                <code>notify.push</code> is false in config.yaml.
              </p>
            ) : subscribed ? (
              <p>
                This browser shows when something waits for you.{' '}
                <button type="button" class="quiet" disabled={busy} onClick={() => change(unsubscribe)}>
                  Stop notifying this browser
                </button>
              </p>
            ) : (
              <button type="button" disabled={busy} onClick={() => change(() => subscribe(publicKey))}>
                Notify this browser
              </button>
            )
          }
        </Answered>
      ) : (
        <p class="empty">
          {why} <code>notify.to</code> in config.yaml sends what waits to a channel of Slack, Telegram,
          Discord or e-mail: see <a href="/docs/notifications">notifications</a>.
        </p>
      )}
    </section>
  );
}
