import { isRefusal, type Refusal } from '../../client/index.js';
import type { Client } from '../client.js';
import { reached, refused } from '../client.js';
import type { Bundle } from '../../records/bundles/bundle.js';
import type { Area, ImportLedger } from './report.js';

/** One thing to import, as a bundle of its own; together with others it travels in one. */
export interface Unit {
  readonly area: Area;
  /** As the import names it, for files and workflows: `org/garden/ann.yaml`. */
  readonly name: string;
  readonly part: Partial<Pick<Bundle, 'files' | 'workflows' | 'items' | 'sessions' | 'uploads'>>;
}

export interface SendOptions {
  readonly client: Client;
  readonly ledger: ImportLedger;
  readonly apply: boolean;
  readonly replace: boolean;
}

/**
 * Imports things by the one route that does that, or previews it. What is refused is left out with the sentence of the
 * refusal, and the others go on. Answers the units that were taken or are here.
 */
export async function send(units: readonly Unit[], options: SendOptions): Promise<readonly Unit[]> {
  if (units.length === 0) return [];
  const { client, ledger, apply, replace } = options;
  const answer = await reached(
    client.announcement.url,
    client.gateway.post('/api/import', { body: { bundle: JSON.stringify(bundleOf(units)), apply, replace } }),
  );
  if (!isRefusal(answer)) {
    for (const [place, { change, name }] of answer.entries.entries()) {
      const area = units[place]?.area ?? units[0]?.area ?? 'other';
      if (change === 'same') ledger.find(area);
      else if (change === 'change' && !replace) ledger.leave(area, name, isDifferent);
      else ledger.take(area);
    }
    return units;
  }
  if (endsImport(answer)) throw refused(answer);
  const { path, differ } = answer.details;
  const named = (Array.isArray(differ) ? differ : [path]).filter((one) => typeof one === 'string');
  const culprits = units.filter(({ name }) => named.includes(name));
  const [only] = units.length === 1 ? units : culprits;
  if (units.length > 1 && culprits.length === 0) {
    const half = Math.ceil(units.length / 2);
    return [...(await send(units.slice(0, half), options)), ...(await send(units.slice(half), options))];
  }
  for (const { area, name } of culprits.length > 0 ? culprits : only === undefined ? [] : [only])
    ledger.leave(area, name, Array.isArray(differ) ? isDifferent : answer.message);
  return send(
    units.filter((unit) => unit !== only && !culprits.includes(unit)),
    options,
  );
}

/**
 * It says nothing of what was sent: the gateway ends, or has no room, or who asks may not. Then the command ends, and
 * repeated, it goes on. A gateway without workflows has them tomorrow no more than today.
 */
export const endsImport = ({ status, code }: Refusal): boolean =>
  (status >= 500 && code !== 'WORKFLOWS_DISABLED') || [401, 403, 429].includes(status);

const isDifferent = 'It is here and differs. --replace overwrites what is here.';

/** In the order in which an import names its entries. */
function bundleOf(units: readonly Unit[]): Bundle {
  const items = units.flatMap(({ part }) => part.items ?? []);
  const sessions = units.flatMap(({ part }) => part.sessions ?? []);
  const uploads = units.flatMap(({ part }) => part.uploads ?? []);
  return {
    troupe: 1,
    title: 'Another home',
    about: '',
    files: Object.assign({}, ...units.map(({ part }) => part.files ?? {})) as Bundle['files'],
    workflows: units.flatMap(({ part }) => part.workflows ?? []),
    ...(items.length > 0 && { items }),
    ...(uploads.length > 0 && { uploads }),
    ...(sessions.length > 0 && { sessions }),
  };
}

/** Things gather until they are enough for one request. Both answer what was taken, or is here, of those sent. */
export function gathering(options: SendOptions) {
  let units: Unit[] = [];
  let chars = 0;
  const flush = async (): Promise<readonly Unit[]> => {
    const now = units;
    units = [];
    chars = 0;
    return send(now, options);
  };
  return {
    flush,
    async add(unit: Unit): Promise<readonly Unit[]> {
      const size = JSON.stringify(unit.part).length;
      const isFull = units.length >= unitsMax || (chars + size > charsMax && units.length > 0);
      const taken = isFull ? await flush() : [];
      units.push(unit);
      chars += size;
      return taken;
    },
  };
}

const unitsMax = 100;
const charsMax = 2_000_000;
