import { useSignal } from '@preact/signals';
import { useAction } from '../../../page/action.js';
import { dateAndTime } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { useLoaded } from '../live.js';
import { Fault } from '../parts/answered.js';

/** Which secrets open this gateway beside paired devices, and how each is taken away. None is shown. */
export function Tokens() {
  const changes = useSignal(0);
  const loaded = useLoaded(`a2a ${changes.value}`, () => must(client.get('/api/a2a')));
  const { message, busy, attempt } = useAction();
  const letIn = loaded.value.value?.employees.filter(({ credentialSince }) => credentialSince !== null) ?? [];
  return (
    <section class="panel" aria-labelledby="tokens-title">
      <h2 id="tokens-title">Tokens</h2>
      <Fault message={message} />
      <ul class="rows">
        <li class="engine">
          <span class="title">Operator</span>
          <span class="soft small wide">
            In <code>gateway.json</code> of the home. <code>troupe token rotate</code> replaces it while the
            gateway is stopped.
          </span>
        </li>
        <li class="engine">
          <span class="title">Agents</span>
          <span class="soft small wide">Each session has one of its own, which ends with it.</span>
        </li>
        {letIn.map(({ name, displayName, credentialSince }) => (
          <li key={name} data-token={name}>
            <span class="title clip">Agents of other houses, for {displayName}</span>
            <span class="soft small">since {dateAndTime(Date.parse(credentialSince ?? ''))}</span>
            <button
              type="button"
              class="quiet end"
              disabled={busy}
              aria-label={`Revoke the credential for ${name}`}
              onClick={() =>
                void attempt(async () => {
                  await must(client.post('/api/a2a/{name}/revoke', { params: { path: { name } } }));
                  changes.value += 1;
                })
              }
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
