import { signal } from '@preact/signals';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import { RefreshEngines } from './refresh-engines.js';
import { NewSession } from './new-session.js';
import { later } from '../../../page/parts/later.js';

const TeamTemplates = later(() => import('./team-templates.js').then((part) => part.TeamTemplates));

/** Once there was a session this page asks no more, however often nothing is at work for a moment. */
const isUsed = signal(false);

/** An empty home: three things to do, each of which works without leaving the page. */
export const FirstRun = () => (isUsed.value ? null : <Steps />);

function Steps() {
  const loaded = useLoaded('first-run', read, { touches: named(/^(?:org|engines|session):/) });
  const found = loaded.value.value;
  if (found === undefined) return null;
  return (
    <section class="panel first" aria-labelledby="first-title">
      <h2 id="first-title">Three ways to begin</h2>
      <ol class="steps-to-do">
        <li>
          <h3>Talk to an agent</h3>
          <p class="soft">
            It answers in a session that is kept, whatever happens to the gateway.
            {!found.engines.some(({ name, available }) => available && name !== 'clerk') &&
              ' The clerk, which is included, understands “add water the plants” and “count to 3”.'}
          </p>
          <NewSession />
        </li>
        <li>
          <h3>Connect an engine</h3>
          <p class="soft">
            What is found can be talked to at once: choose it under <i>To</i>. Install one of the others in a
            terminal, and <RefreshEngines />
          </p>
          <ul class="rows">
            {foundFirst(found.engines).map(({ name, available, remedy, reason }) => (
              <li key={name} class="engine">
                <b class={`state ${available ? 'done' : 'rest'}`}>{available ? 'found' : 'missing'}</b>
                <span class="title">{name}</span>
                {!available && (
                  <span class="soft small wide">{[reason, remedy].filter(Boolean).join(' ')}</span>
                )}
              </li>
            ))}
          </ul>
        </li>
        <li>
          <h3>Make a team</h3>
          <p class="soft">
            {found.people === 0
              ? 'One of these, or an employee of your own under Organisation.'
              : `${found.people} employed.`}
          </p>
          <TeamTemplates />
          <p>
            <a class="quiet" href={linkTo({ view: 'organisation' })}>
              Open organisation
            </a>
          </p>
        </li>
      </ol>
    </section>
  );
}

interface Engine {
  readonly name: string;
  readonly available: boolean;
  readonly reason?: string;
  readonly remedy?: string;
}

async function read() {
  const { sessions } = await must(client.get('/api/status'));
  isUsed.value = sessions.total > 0;
  if (isUsed.value) return undefined;
  const [engines, org] = await Promise.all([
    must(client.get('/api/engines')),
    must(client.get('/api/org')).catch(() => undefined), // a gateway without records has no people
  ]);
  return {
    engines: Object.values(engines.engines as Readonly<Record<string, Engine>>),
    people: org?.employees.length ?? 0,
  };
}

const foundFirst = <One extends { readonly available: boolean }>(engines: readonly One[]): readonly One[] =>
  [...engines].sort((one, other) => Number(other.available) - Number(one.available));
