import { useSignal } from '@preact/signals';
import { deliveryIdOf } from '../../../client/decision.js';
import type { Answer } from '../../../client/index.js';
import { useAction } from '../../../page/action.js';
import { now, span, withUtc } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { waiting } from '../waiting.js';
import { Answered } from '../parts/answered.js';
import { Decision } from '../parts/decision.js';
import { decisionWords, Subject } from '../parts/subject.js';
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
                <Unsettled name={connector.name} />
                <Test name={connector.name} running={connector.status === 'running'} />
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

/** Messages that did not arrive, or may not have, each with what can be made of it: the same things as in the inbox. */
function Unsettled({ name }: { readonly name: string }) {
  const messages =
    waiting.value?.filter(
      ({ kind, id, what }) => kind === 'connector' && id === name && what !== 'connector',
    ) ?? [];
  if (messages.length === 0) return null;
  return (
    <ul class="unsettled" aria-label={`To be decided: ${name}`}>
      {messages.map((thing) => (
        <li key={thing.waitingId} data-unsettled={deliveryIdOf(thing.waitingId)}>
          <Subject thing={thing} />
          <Decision thing={thing} />
        </li>
      ))}
    </ul>
  );
}

/** A message to oneself, to see that it arrives. */
function Test({ name, running }: { readonly name: string; readonly running: boolean }) {
  const channel = useSignal('');
  const { message, busy, attempt } = useAction();
  if (!running) return null;
  return (
    <form
      class="ways"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(async () => {
          const { status, reason } = await must(
            client.post('/api/connectors/{name}/send', {
              params: { path: { name } },
              body: { channel: channel.value.trim(), text: 'A test message from Troupe.' },
            }),
          );
          return `${outcomes[status]}${reason === null ? '' : ` ${reason}`}`;
        }, 'Sending …');
      }}
    >
      <input
        type="text"
        aria-label={`Channel of ${name} for a test message`}
        placeholder="channel, chat or address"
        value={channel.value}
        maxLength={128}
        autocomplete="off"
        onInput={(event) => {
          channel.value = event.currentTarget.value;
        }}
      />
      <button type="submit" disabled={busy || channel.value.trim() === ''}>
        Send a test
      </button>
      <span class="soft small" role="status" data-outcome>
        {message}
      </span>
    </form>
  );
}

const outcomes = {
  sent: 'The test message was sent: check that it is there.',
  failed: 'The test message was not sent.',
  unknown: 'It may have arrived: check before you send it again.',
  pending: 'It is being sent.',
} as const;

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
            {[...deliveries].reverse().map((delivery) => (
              <DeliveryLine key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        )
      }
    </Answered>
  );
}

function DeliveryLine({ delivery }: { readonly delivery: Delivery }) {
  const { id, channel, status, reason, requestedBy, requestedAt, decision } = delivery;
  return (
    <li data-delivery={id}>
      <b class={`state ${toneOf(status)}`}>{status}</b>
      <span class="clip">
        to {channel} <span class="soft">from {requestedBy}</span>
      </span>
      {decision != null && (
        <span class="soft clip">
          {decisionWords[decision.choice]} by {decision.by}
        </span>
      )}
      {reason !== null && <span class={status === 'unknown' ? 'soft clip' : 'bad clip'}>{reason}</span>}
      <span class="soft num end" title={withUtc(Date.parse(requestedAt))}>
        {span(now.value - Date.parse(requestedAt))} ago
      </span>
    </li>
  );
}

type Delivery = Answer<'/api/connectors/{name}/deliveries', 'get'>['deliveries'][number];

const toneOf = (outcome: string): string =>
  /sent|delivered/.test(outcome) ? 'done' : /unknown|fail|refus/.test(outcome) ? 'bad' : 'wait';
