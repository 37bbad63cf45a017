import { ask } from '../../../page/ask.js';
import { now, span, whole } from '../../../page/clock.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import { Resume, TryConnector } from '../parts/decide.js';
import { DeadLettersPanel } from '../parts/letters.js';
import { Panel } from '../../../page/parts/panel.js';
import { whatHelps } from '../problems.js';
import { QuotasPanel } from '../parts/quotas.js';
import { plainly } from '../parts/cause.js';
import { WorkersPanel } from '../parts/workers.js';
import type { SupervisionTree } from '../../answers.js';

type Kind = SupervisionTree['kinds'][number];

/**
 * Who looks after whom: strategies, how much failing each kind may do, who is failing, what does not work and
 * why.
 */
export function SupervisionPage() {
  const loaded = useLoaded(
    'supervision',
    (signal) => ask<SupervisionTree>('/api/inspect/supervision', { signal }),
    {
      everyMs: 2_000,
      touches: ({ entries }) => entries.some(({ event }) => event.type.startsWith('kernel.')),
    },
  );
  const { value: tree, error } = loaded.value;
  if (tree === undefined)
    return (
      <section class="view" aria-busy="true">
        <h1>Supervision</h1>
        <p class="soft">{error ?? 'Loading …'}</p>
      </section>
    );
  const failing = tree.root.subsystems.filter((one) => one.failing !== null);
  const broken = tree.circuits.filter(({ status }) => status === 'failing').map(({ name }) => name);
  return (
    <section class="view" aria-labelledby="supervision-title">
      <div class="heading">
        <h1 id="supervision-title">Supervision</h1>
        <b
          class={`state ${tree.root.state === 'running' ? 'done' : tree.root.state === 'degraded' ? 'bad' : 'wait'}`}
        >
          {tree.root.state}
        </b>
        <p class="soft">{summaryOf([...failing.map(({ name }) => name), ...broken])}</p>
      </div>
      {failing.map((one) => (
        <p key={one.name} class="notice bad" role="alert">
          <b>{one.name}:</b> {one.failing}
        </p>
      ))}
      <Panel
        name="tree"
        title="Tree"
        end={
          <a class="quiet" href={linkTo({ view: 'tree' })}>
            Actors and what is beneath them
          </a>
        }
      >
        <ul class="supervisors" aria-label="Supervision tree">
          <li>
            <div class="supervisor root">
              <b>supervisor</b>
              <span class="subsystems">
                {tree.root.subsystems.map(({ name, failing: why }) => {
                  // It works itself while what it reaches does not: its lamp was green beside a red word
                  const isBad = why !== null || (name === 'connectors' && broken.length > 0);
                  return (
                    <span key={name} class={isBad ? 'sub bad' : 'sub'}>
                      <i class={`lamp ${isBad ? 'bad' : 'done'}`} aria-hidden="true" />
                      {name}
                      {why !== null ? ': fails' : isBad && `: ${broken.length} failing`}
                    </span>
                  );
                })}
              </span>
            </div>
            <ul>
              {tree.kinds.map((kind) => (
                <KindNode key={kind.kind} kind={kind} at={tree.at} />
              ))}
            </ul>
          </li>
        </ul>
      </Panel>
      <div class="columns even">
        <Circuits circuits={tree.circuits} />
        <DeadLettersPanel />
      </div>
      <QuotasPanel />
      <WorkersPanel />
    </section>
  );
}

function KindNode({ kind, at }: { readonly kind: Kind; readonly at: number }) {
  const { failing, halted } = kind;
  const worst = Math.max(0, ...failing.map(({ failures }) => failures));
  const stillRunning = failing.filter(({ id }) => halted.every((one) => one.id !== id));
  return (
    <li>
      <div class="supervisor">
        <a href={linkTo({ view: 'fleet', kind: kind.kind })}>
          <b>{kind.kind}</b>
        </a>
        <span class="num soft">
          {whole(kind.total)} {kind.total === 1 ? 'actor' : 'actors'}
        </span>
        <span class="rules">
          {words[kind.strategy]}, {restartWords[kind.restart]}
          {kind.backoffMs > 0 && `, after ${span(kind.backoffMs)} to ${span(kind.backoffMsMax)}`}; at most{' '}
          {kind.intensity} {kind.intensity === 1 ? 'failure' : 'failures'} in{' '}
          {span(kind.periodSeconds * 1_000)}, then{' '}
          {kind.giveUp === 'halt' ? 'halted' : 'halted, and a failure of the actor above it'}
        </span>
        <Window worst={worst} intensity={kind.intensity} />
        <span class={kind.restarts > 0 ? 'num bad' : 'num soft'}>
          {whole(kind.restarts)} {kind.restarts === 1 ? 'restart' : 'restarts'}
        </span>
      </div>
      {failing.length + halted.length > 0 && (
        <ul>
          {halted.map(({ id, at: since, reason }) => (
            <li key={`h${id}`}>
              <div class="supervisor">
                <a href={linkTo({ view: 'actor', kind: kind.kind, id })}>{id}</a>
                <b class="state bad">halted</b>
                <span class="rules">{plainly(reason)}</span>
                <Resume actor={{ kind: kind.kind, id }} />
                <span class="num soft">for {span(at - since)}</span>
              </div>
            </li>
          ))}
          {stillRunning.map(({ id, failures, until, error }) => (
            <li key={`f${id}`}>
              <div class="supervisor">
                <a href={linkTo({ view: 'actor', kind: kind.kind, id })}>{id}</a>
                <b class="state wait">
                  {failures} of {kind.intensity}
                </b>
                <span class="rules">{plainly(error)}</span>
                <span class="num soft">
                  {until !== null && until > now.value ? `again in ${span(until - now.value)}` : 'restarted'}
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** How much of the failing that is allowed within the window is used up, by the worst of the kind. */
function Window({ worst, intensity }: { readonly worst: number; readonly intensity: number }) {
  return (
    <span class="window" role="img" aria-label={`${worst} of ${intensity} failures in the window`}>
      {Array.from({ length: Math.min(10, intensity) }, (_, n) => (
        <i key={n} class={n < worst ? 'used' : ''} />
      ))}
    </span>
  );
}

/** What the gateway reaches beyond itself, the broken first. */
function Circuits({ circuits }: { readonly circuits: SupervisionTree['circuits'] }) {
  const broken = circuits.filter(({ status }) => status === 'failing').length;
  const sorted = [...circuits].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
  return (
    <Panel
      name="circuits"
      title="Connectors and engines"
      end={broken > 0 && <span class="bad">{broken} failing</span>}
    >
      {circuits.length === 0 && <p class="empty">No engines or connectors.</p>}
      <ul class="facts">
        {sorted.map(({ type, name, status, reason, since, nextTry }) => (
          <li key={`${type}/${name}`}>
            <i class={`lamp ${tones[status]}`} aria-hidden="true" />
            <b>
              {type === 'connector' ? (
                <a href={linkTo({ view: 'actor', kind: type, id: name })}>{name}</a>
              ) : (
                name
              )}
            </b>
            <span class="soft">
              {type}
              {since !== null && `, for ${span(now.value - since)}`}
              {reason !== null && `: ${reason.replace(/\.?$/, '.')}`}
              {nextTry !== null &&
                (nextTry > now.value ? ` Next try in ${span(nextTry - now.value)}.` : ' It is tried now.')}
              {status === 'failing' && ` What helps: ${whatHelps}.`}
            </span>
            <span class="end">
              {type === 'connector' && <TryConnector name={name} isFailing={status === 'failing'} />}
              <b class={`state ${tones[status]}`}>{status}</b>
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const tones = {
  failing: 'bad',
  starting: 'wait',
  works: 'done',
  stopped: 'rest',
  unavailable: 'rest',
} as const;
const order = Object.keys(tones);

const summaryOf = (failing: readonly string[]): string =>
  failing.length === 0
    ? 'Every subsystem and every connector works.'
    : `${failing.join(', ')} ${failing.length === 1 ? 'does' : 'do'} not work.`;

const words = {
  one_for_one: 'each for itself',
  one_for_all: 'all with one',
  rest_for_one: 'one and those after it',
} as const;
const restartWords = {
  permanent: 'always restarted',
  transient: 'restarted after a failure',
  temporary: 'never restarted',
} as const;
