import type { ComponentChildren } from 'preact';
import type { SupervisionTree } from '../../../inspector/answers.js';
import { ask } from '../../../page/ask.js';
import { named, useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import { Answered } from '../parts/answered.js';

/** Whether the gateway itself, its engines and its connectors work; what does not, with the reason. */
export function Health() {
  const loaded = useLoaded(
    'health',
    (signal) => ask<SupervisionTree>('/api/inspect/supervision', { signal }),
    { touches: named(/^(?:connector|engines|config):/), everyMs: 15_000, restMs: 2_000 },
  );
  return (
    <section class="panel" aria-labelledby="health-title">
      <h2 id="health-title">
        Health
        <a class="quiet" href="/inspect#/supervision">
          More
        </a>
      </h2>
      <Answered loaded={loaded}>{(tree) => <Lines tree={tree} />}</Answered>
    </section>
  );
}

function Lines({ tree: { root, circuits } }: { readonly tree: SupervisionTree }) {
  const failing = root.subsystems.flatMap(({ name, failing: why }) => (why === null ? [] : [{ name, why }]));
  const of = (type: string) => circuits.filter((one) => one.type === type);
  const connectors = of('connector').filter(({ status }) => status !== 'stopped');
  return (
    <ul class="rows small" data-health={failing.length === 0 ? root.state : 'failing'}>
      {failing.length === 0 ? (
        <Line fine={root.state === 'running'} href="/inspect#/supervision">
          Gateway {root.state}
        </Line>
      ) : (
        failing.map(({ name, why }) => (
          <Line key={name} fine={false} href="/inspect#/supervision">
            {name}: {why}
          </Line>
        ))
      )}
      <Line fine={of('engine').some(works)} href={linkTo({ view: 'settings' })}>
        {of('engine').filter(works).length} of {of('engine').length} engines found
      </Line>
      {connectors.length > 0 && (
        <Line fine={connectors.every(works)} href={linkTo({ view: 'connectors' })}>
          {connectors.filter(works).length} of {connectors.length} connectors work
        </Line>
      )}
    </ul>
  );
}

const works = ({ status }: SupervisionTree['circuits'][number]): boolean => status === 'works';

const Line = ({
  fine,
  href,
  children,
}: {
  readonly fine: boolean;
  readonly href: string;
  readonly children: ComponentChildren;
}) => (
  <li>
    <a href={href}>
      <i class={`lamp ${fine ? 'done' : 'bad'}`} aria-hidden="true" />
      <span class="two-lines">{children}</span>
    </a>
  </li>
);
