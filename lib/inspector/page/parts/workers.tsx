import type { Answer } from '../../../client/requests.js';
import { ask, Refused } from '../../../page/ask.js';
import { mebibytes, now, short, span, withUtc } from '../../../page/clock.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';

type Workers = Answer<'/api/workers', 'get'>;
type Worker = Workers['workers'][number];

/** The processes in which turns outlive the gateway: what runs in each and for how long, and the slots of all. */
export function WorkersPanel() {
  const loaded = useLoaded('workers', read, { everyMs: 5_000 });
  const { value, error } = loaded.value;
  // A heading that goes again, where the host has none, would be announced for nothing
  if (value === 'none' || (value === undefined && error === undefined)) return null;
  return (
    <section class="panel" aria-labelledby="workers-title">
      <h2 id="workers-title">
        Workers
        {value?.slots != null && (
          <span class="soft">
            {value.slots.running} of {value.slots.max} slots taken, {value.slots.waiting} turns wait for one
          </span>
        )}
      </h2>
      {error !== undefined && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      {value?.workers.length === 0 && (
        <p class="empty">
          {value.hosted.length === 0
            ? 'All turns run in the gateway and end with it.'
            : 'None runs. The first turn of an engine that outlives the gateway starts one.'}
        </p>
      )}
      <ul class="facts">
        {value?.workers.map((worker) => (
          <Row key={worker.name} worker={worker} />
        ))}
      </ul>
    </section>
  );
}

function Row({ worker }: { readonly worker: Worker }) {
  const { name, state, place, pid, startedAt, memoryBytes, labels, turns } = worker;
  const began = startedAt === null ? undefined : Date.parse(startedAt);
  return (
    <li>
      <i class={`lamp ${turns.length > 0 ? 'busy' : 'done'}`} aria-hidden="true" />
      <b class="whole-name">{name}</b>
      <span class="soft">
        {place === 'elsewhere' && 'on another machine'}
        {labels.length > 0 && ` (${labels.join(', ')})`}
        {place === 'elsewhere' && began !== undefined && ', '}
        {began !== undefined && (
          <>
            process {pid}, alive <span title={withUtc(began)}>for {span(now.value - began)}</span>
          </>
        )}
        {memoryBytes !== null && `, ${mebibytes(memoryBytes)}`}
        {turns.length === 0 && ', no turn runs there'}
        {turns.map((turn) => (
          <span key={turn.turnId}>
            ;{' '}
            <a href={linkTo({ view: 'actor', kind: 'session', id: turn.sessionId })} title={turn.sessionId}>
              session {short(turn.sessionId, 9)}
            </a>{' '}
            with {turn.engine} for {span(now.value - Date.parse(turn.since))}
          </span>
        ))}
      </span>
      <span class="end">
        <b class={`state ${tones[state]}`}>{state}</b>
      </span>
    </li>
  );
}

const tones = { serving: 'done', draining: 'wait', earlier: 'wait', invited: 'wait', away: 'bad' } as const;

/** A host without agents has none. */
const read = (signal: AbortSignal): Promise<Workers | 'none'> =>
  ask<Workers>('/api/workers', { signal }).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 404) return 'none';
    throw error;
  });
