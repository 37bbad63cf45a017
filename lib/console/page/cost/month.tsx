import { now } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import { titleOf, type Session } from '../session.js';
import { dayOf, forecastOf } from '../../../page/forecast.js';

/** This month: spent and where it leads to, the budgets, and the sessions that cost most. */
export function Month() {
  const loaded = useLoaded('month', read, {
    touches: named(/^session:completed|^budget:|^org:/),
    restMs: 5_000,
  });
  const { value, error } = loaded.value;
  if (value === undefined) return error === undefined ? null : <p class="notice bad">{error}</p>;
  const { days, timeZone, budgets, dearest } = value;
  const { spentUsd, usdPerDay, endUsd } = forecastOf(days, dayOf(now.value, timeZone));
  const limited = budgets.filter(({ limitUsd }) => limitUsd !== null);
  return (
    <>
      <dl class="figures panel" aria-label="This month">
        <div>
          <dt class="soft small">This month</dt>
          <dd class="num" data-spent>
            {dollars(spentUsd)}
          </dd>
        </div>
        <div>
          <dt class="soft small">At its end, if it goes on like this</dt>
          <dd class="num" data-forecast>
            {dollars(endUsd)}
          </dd>
        </div>
        <div>
          <dt class="soft small">A day, in the last seven</dt>
          <dd class="num">{dollars(usdPerDay)}</dd>
        </div>
      </dl>
      <div class="halves">
        <section class="panel" aria-labelledby="budgets-title">
          <h2 id="budgets-title">Budgets of this month</h2>
          {limited.length === 0 ? (
            <p class="empty">
              No employee has one. Write <code>monthlyBudgetUsd</code> into the file of an{' '}
              <a href={linkTo({ view: 'organisation' })}>employee</a>.
            </p>
          ) : (
            <ul class="rows">
              {limited.map(({ employee, spentUsd: spent, limitUsd, grantedUsd, state }) => {
                const limit = (limitUsd ?? 0) + grantedUsd;
                const percent = limit === 0 ? 100 : Math.min(100, (spent / limit) * 100);
                return (
                  <li key={employee} data-budget={employee}>
                    <span class="clip">{employee}</span>
                    <span class={`share ${state}`}>
                      <i style={{ width: `${percent}%` }} />
                    </span>
                    {state !== 'within' && (
                      <b class={`state ${state === 'exceeded' ? 'bad' : 'wait'}`}>
                        {state === 'exceeded' ? 'spent' : 'nearly spent'}
                      </b>
                    )}
                    <span class="num end">
                      {dollars(spent)} <span class="soft">of {dollars(limit)}</span>
                    </span>
                  </li>
                );
              })}
            </ul>
          )}
        </section>
        <section class="panel" aria-labelledby="dearest-title">
          <h2 id="dearest-title">Sessions that cost most</h2>
          {dearest.length === 0 ? (
            <p class="empty">No session has cost anything in the last 30 days.</p>
          ) : (
            <ul class="rows">
              {dearest.map(({ id, title, costUsd }) => (
                <li key={id} data-dearest={id}>
                  <a href={linkTo({ view: 'chat', id })}>
                    <span class="clip">{title}</span>
                    <span class="num end">{dollars(costUsd)}</span>
                  </a>
                </li>
              ))}
            </ul>
          )}
        </section>
      </div>
    </>
  );
}

const dollars = (usd: number): string => `$${usd.toFixed(2)}`;
const dearestMax = 5;

async function read() {
  const report = (groupBy: 'day' | 'session', limit: number) =>
    must(
      client.get('/api/cost/report', {
        params: { query: { groupBy, since: daysAgo(31), limit: String(limit) } },
      }),
    );
  const [byDay, bySession, { budgets }] = await Promise.all([
    report('day', 100),
    report('session', dearestMax),
    must(client.get('/api/org/budgets')).catch(() => ({ budgets: [] })), // none are kept
  ]);
  const paid = bySession.groups.filter(({ costUsd }) => costUsd > 0);
  const dearest = await Promise.all(
    paid.map(async ({ key, costUsd }) => {
      const id = key ?? '';
      const found = await must(
        client.get('/api/sessions/{id}', { params: { path: { id }, query: { last: '1' } } }),
      ).catch(() => undefined);
      return { id, costUsd, title: found === undefined ? id : titleOf(found as object as Session) };
    }),
  );
  return {
    days: byDay.groups.map(({ key, costUsd }) => ({ day: key ?? '', usd: costUsd })),
    timeZone: byDay.timeZone,
    budgets,
    dearest,
  };
}

const daysAgo = (days: number): string => new Date(now.value - days * 86_400_000).toISOString();
