import type { Answer } from '../../../client/index.js';
import { useAction } from '../../../page/action.js';
import { mebibytes, now, span, withUtc } from '../../../page/clock.js';
import { client, must, Refused } from '../../../page/gateway.js';
import { useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { linkTo } from '../place.js';

type Workers = Answer<'/api/workers', 'get'>;
type Worker = Workers['workers'][number];

/** The processes in which turns outlive the gateway: what runs in each and since when, and how it ends. */
export function WorkersPanel() {
  const loaded = useLoaded('workers', read, { everyMs: 5_000 });
  if (loaded.value.value === 'none') return null;
  return (
    <section class="panel" aria-labelledby="workers-title">
      <h2 id="workers-title">
        Workers <span class="soft">turns in them go on while the gateway restarts</span>
      </h2>
      <Answered loaded={loaded}>
        {(found) => (found === 'none' ? null : <Processes found={found} />)}
      </Answered>
    </section>
  );
}

function Processes({ found: { workers, slots, hosted } }: { readonly found: Workers }) {
  return (
    <>
      {slots !== null && (
        <p class="soft small num">
          {slots.running} of {slots.max} slots taken, {slots.waiting} turns wait for one
        </p>
      )}
      {workers.length === 0 ? (
        <p class="empty">
          {hosted.length === 0
            ? 'All turns run in the gateway and end with it.'
            : 'None runs. The first turn of an engine that outlives the gateway starts one.'}
        </p>
      ) : (
        <ul class="rows">
          {workers.map((worker) => (
            <Process key={worker.name} worker={worker} />
          ))}
        </ul>
      )}
    </>
  );
}

function Process({ worker }: { readonly worker: Worker }) {
  const { name, state, pid, startedAt, memoryBytes, turns } = worker;
  const { message, busy, attempt } = useAction();
  const began = startedAt === null ? undefined : Date.parse(startedAt);
  const drain = async (): Promise<string> => {
    await must(client.post('/api/workers/{id}/drain', { params: { path: { id: name } }, body: {} }));
    return 'No turn begins there any more; it ends with its last one.';
  };
  return (
    <li class="worker" data-worker={name}>
      <p class="ways">
        <b class={`state ${state === 'serving' ? 'done' : 'wait'}`}>{state}</b>
        <span class="title">{name}</span>
        {began !== undefined && (
          <span class="soft small num" title={withUtc(began)}>
            process {pid}, for {span(now.value - began)}
            {memoryBytes !== null && `, ${mebibytes(memoryBytes)}`}
          </span>
        )}
        {state === 'serving' && (
          <button
            type="button"
            class="quiet end"
            disabled={busy}
            aria-label={`Drain ${name}`}
            onClick={() => void attempt(drain)}
          >
            Drain
          </button>
        )}
      </p>
      {message !== '' && (
        <p class="soft small" role="status">
          {message}
        </p>
      )}
      <ul>
        {turns.map((turn) => (
          <Turn key={turn.turnId} turn={turn} />
        ))}
      </ul>
    </li>
  );
}

function Turn({ turn: { sessionId, engine, since } }: { readonly turn: Worker['turns'][number] }) {
  const { message, busy, attempt } = useAction();
  const stop = async (): Promise<void> => {
    await must(client.post('/api/sessions/{id}/stop', { params: { path: { id: sessionId } }, body: {} }));
  };
  return (
    <li class="ways">
      <i class="lamp busy" aria-hidden="true" />
      <a href={linkTo({ view: 'chat', id: sessionId })}>session {sessionId.slice(0, 8)}</a>
      <span class="soft small num">
        {engine}, for {span(now.value - Date.parse(since))}
      </span>
      {message !== '' && (
        <span class="bad small" role="alert">
          {message}
        </span>
      )}
      <button
        type="button"
        class="quiet end"
        disabled={busy}
        aria-label={`Stop session ${sessionId.slice(0, 8)}`}
        onClick={() => void attempt(stop)}
      >
        Stop
      </button>
    </li>
  );
}

/** A host without agents has none. */
const read = (signal: AbortSignal): Promise<Workers | 'none'> =>
  must(client.get('/api/workers', { signal })).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 404) return 'none';
    throw error;
  });
