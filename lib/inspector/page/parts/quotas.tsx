import type { Answer } from '../../../client/requests.js';
import { ask, Refused } from '../../../page/ask.js';
import { countdown, mebibytes, now, span, whole, withUtc } from '../../../page/clock.js';
import { Panel } from '../../../page/parts/panel.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';

type Quotas = Answer<'/api/inspect/quotas', 'get'>;
type Agent = Quotas['agents'][number];

/** What each agent has begun, of what it may in this hour and in all, and which quota it met; who has least left first. */
export function QuotasPanel() {
  const loaded = useLoaded('quotas', read, { everyMs: 10_000 });
  const { value, error } = loaded.value;
  // A heading that goes again, where the host has none, would be announced for nothing
  if (value === 'none' || (value === undefined && error === undefined)) return null;
  return (
    <Panel
      name="quotas"
      title="Quotas of agents"
      about="what each has begun; those with the least left first"
      error={error}
    >
      {value?.agents.length === 0 && <p class="empty">No agent has begun anything yet.</p>}
      {value !== undefined && value.agents.length > 0 && <Table {...value} />}
    </Panel>
  );
}

function Table({ limits, agents }: Quotas) {
  const sorted = [...agents].sort((one, other) => mostUsed(other, limits) - mostUsed(one, limits));
  return (
    <>
      <div class="wide" tabIndex={0} role="region" aria-label="Quotas of agents">
        <table class="quotas">
          <thead>
            <tr>
              <th scope="col">Agent</th>
              {names.map(([quota, name]) => (
                <th key={quota} scope="col">
                  {name}
                </th>
              ))}
              <th scope="col">Hour ends in</th>
              <th scope="col">Met</th>
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, shownMax).map((agent) => (
              <tr key={agent.agent}>
                <th scope="row">
                  <AgentName agent={agent.agent} />
                </th>
                {names.map(([quota]) => (
                  <td key={quota} class="num">
                    <Used used={agent.inHour[quota]} of={limits[quota]?.hour} quota={quota} /> this hour
                    <br />
                    <small>
                      <Used used={agent.total[quota]} of={limits[quota]?.total} quota={quota} /> in all
                    </small>
                  </td>
                ))}
                <td class="num soft">{countdown(agent.resetAt - now.value)}</td>
                <td>{agent.met === undefined ? <span class="soft">none</span> : <Met {...agent.met} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {agents.length > shownMax && (
        <p class="soft small">
          {agents.length - shownMax} more: <code>troupe quotas</code>
        </p>
      )}
    </>
  );
}

/** `session:<id>` is the top of a tree of sessions that no employee stands for. */
function AgentName({ agent }: Pick<Agent, 'agent'>) {
  const [type, id] = [agent.slice(0, agent.indexOf(':')), agent.slice(agent.indexOf(':') + 1)];
  return type === 'session' ? (
    <a href={linkTo({ view: 'actor', kind: 'session', id })}>{agent}</a>
  ) : (
    <b>{agent}</b>
  );
}

function Used({
  used = 0,
  of = 0,
  quota,
}: {
  readonly used: number | undefined;
  readonly of: number | undefined;
  readonly quota: string;
}) {
  const shown = quota === 'bytes' ? mebibytes : whole;
  return (
    <span class={used >= of ? 'bad' : ''}>
      {shown(used)} of {shown(of)}
    </span>
  );
}

const Met = ({ quota, per, at }: NonNullable<Agent['met']>) => (
  <span class="bad" title={withUtc(at)}>
    {quota} {per === 'hour' ? 'per hour' : 'in all'}, {span(now.value - at)} ago
  </span>
);

/** The largest part of any of its quotas that is used up. */
const mostUsed = ({ inHour, total }: Agent, limits: Quotas['limits']): number =>
  Math.max(
    ...names.flatMap(([quota]) => [
      (inHour[quota] ?? 0) / Math.max(1, limits[quota]?.hour ?? 1),
      (total[quota] ?? 0) / Math.max(1, limits[quota]?.total ?? 1),
    ]),
  );

const names = [
  ['sessions', 'Sessions'],
  ['items', 'Work items'],
  ['runs', 'Runs'],
  ['bytes', 'Sent'],
] as const;
const shownMax = 100;

/** A host without agents has none. */
const read = (signal: AbortSignal): Promise<Quotas | 'none'> =>
  ask<Quotas>('/api/inspect/quotas', { signal }).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 404) return 'none';
    throw error;
  });
