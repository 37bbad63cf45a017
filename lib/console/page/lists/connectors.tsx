import { useAction } from '../../../page/action.js';
import { now, span } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { NoRecords } from '../parts/sheet.js';

/** The ways in and out: whether they work, and what became of the last messages. */
export function Connectors() {
  const loaded = useLoaded('connectors', () => must(client.get('/api/connectors')), {
    touches: named(/^connectors?:/),
  });
  const { message, busy, attempt } = useAction();
  return (
    <Answered loaded={loaded}>
      {(connectors) => (
        <>
          <p class="ways">
            <button
              type="button"
              disabled={busy}
              onClick={() =>
                void attempt(async () => {
                  await must(client.post('/api/connectors/reload'));
                  return 'Reloaded from config.yaml.';
                })
              }
            >
              Reload
            </button>
            <span class="soft small" role="status">
              {message}
            </span>
          </p>
          {connectors.length === 0 ? (
            <NoRecords
              title="No connector is configured."
              guide={{ href: '/docs/connectors', label: 'How to connect one' }}
            >
              Slack, Discord, Telegram, email and webhooks are set up in config.yaml.
            </NoRecords>
          ) : (
            connectors.map((connector) => (
              <section key={connector.name} class="panel" aria-label={connector.name}>
                <h2>
                  {connector.name}
                  <b class={`state ${connector.status === 'running' ? 'done' : 'bad'}`}>{connector.status}</b>
                  <span class="soft">{wordsOf(connector)}</span>
                </h2>
                <Deliveries name={connector.name} />
              </section>
            ))
          )}
        </>
      )}
    </Answered>
  );
}

const wordsOf = (connector: object): string => {
  const { detail } = connector as Readonly<Record<string, unknown>>;
  return typeof detail === 'string' ? detail : '';
};

function Deliveries({ name }: { readonly name: string }) {
  const loaded = useLoaded(
    `deliveries/${name}`,
    (signal) =>
      must(
        client.get('/api/connectors/{name}/deliveries', {
          params: { path: { name }, query: { limit: '20' } },
          signal,
        }),
      ),
    { touches: named(/^connector:delivery/) },
  );
  return (
    <Answered loaded={loaded}>
      {({ deliveries }) =>
        deliveries.length === 0 ? (
          <p class="soft small">Nothing was sent yet.</p>
        ) : (
          <ul class="rows small">
            {deliveries.map((delivery, n) => {
              const { outcome, state, status, reason, at, createdAt, text } = delivery as Readonly<
                Record<string, unknown>
              >;
              const word = String(outcome ?? state ?? status ?? 'waiting');
              const when = Date.parse(String(createdAt ?? at ?? ''));
              return (
                <li key={n}>
                  <b class={`state ${toneOf(word)}`}>{word}</b>
                  <span class="clip">{typeof text === 'string' ? text : ''}</span>
                  {typeof reason === 'string' && <span class="bad">{reason}</span>}
                  {!Number.isNaN(when) && <span class="soft num end">{span(now.value - when)}</span>}
                </li>
              );
            })}
          </ul>
        )
      }
    </Answered>
  );
}

const toneOf = (outcome: string): string =>
  /sent|delivered/.test(outcome) ? 'done' : /unknown|fail|refus/.test(outcome) ? 'bad' : 'wait';
