import { useSignal } from '@preact/signals';
import { whole } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { Month } from '../cost/month.js';
import { Answered } from '../parts/answered.js';
import { Sheet } from '../parts/sheet.js';
import { linkTo } from '../place.js';

const groupings = ['employee', 'engine', 'model', 'day', 'session', 'workItem'] as const;
type Grouping = (typeof groupings)[number];

/** What was spent in the last thirty days, and on what. */
export function Cost() {
  const by = useSignal<Grouping>('employee');
  const loaded = useLoaded(
    `cost/${by.value}`,
    (signal) =>
      must(
        client.get('/api/cost/report', {
          params: { query: { groupBy: by.value, since: daysAgo(30), limit: '100' } },
          signal,
        }),
      ),
    { touches: named(/^session:completed|^budget:/) },
  );
  return (
    <>
      <Month />
      <p class="filters">
        <select
          aria-label="By"
          value={by.value}
          onChange={(event) => {
            by.value = event.currentTarget.value as Grouping;
          }}
        >
          {groupings.map((one) => (
            <option key={one} value={one}>
              by {one === 'workItem' ? 'work item' : one}
            </option>
          ))}
        </select>
      </p>
      <Answered loaded={loaded}>
        {({ totals, groups }) => {
          const most = Math.max(...groups.map(({ costUsd }) => costUsd), 0);
          return (
            <>
              <dl class="figures panel">
                <Figure name="Last 30 days" value={`$${totals.costUsd.toFixed(2)}`} />
                <Figure name="Turns" value={whole(totals.turns)} />
                <Figure name="Tokens in" value={whole(totals.inputTokens)} />
                <Figure name="Tokens out" value={whole(totals.outputTokens)} />
              </dl>
              {groups.length === 0 ? (
                <p class="panel empty">No turn has run yet. What a turn costs is counted when it ends.</p>
              ) : (
                <Sheet
                  label="Cost"
                  columns={[
                    by.value === 'workItem' ? 'Work item' : by.value,
                    { name: 'Turns', shown: 'right' },
                    { name: 'Tokens', shown: 'right' },
                    { name: 'Cost', shown: 'right' },
                    { name: 'Share', shown: 'unseen' },
                  ]}
                  items={groups}
                  keyOf={({ key }) => key ?? ''}
                  row={(group, at) => (
                    <tr key={group.key ?? ''} {...at}>
                      <th scope="row" class="clip">
                        <Name by={by.value} group={group} />
                      </th>
                      <td class="right num">{whole(group.turns)}</td>
                      <td class="right num">{whole(group.inputTokens + group.outputTokens)}</td>
                      <td class="right num">${group.costUsd.toFixed(2)}</td>
                      <td class="share">
                        <i style={{ width: `${most === 0 ? 0 : (group.costUsd / most) * 100}%` }} />
                      </td>
                    </tr>
                  )}
                />
              )}
            </>
          );
        }}
      </Answered>
    </>
  );
}

/** A session and a work item by its title, one step away. */
function Name({
  by,
  group: { key, title },
}: {
  readonly by: Grouping;
  readonly group: { readonly key: string | null; readonly title?: string | null };
}) {
  if (key === null || (by !== 'session' && by !== 'workItem')) return <>{key ?? 'none'}</>;
  return (
    <a href={linkTo({ view: by === 'session' ? 'chat' : 'item', id: key })} title={key}>
      {title ?? key}
    </a>
  );
}

const Figure = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div>
    <dt class="soft small">{name}</dt>
    <dd class="num">{value}</dd>
  </div>
);

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
