import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { verifyPostgres } from '../../../lib/store/postgres/copies.js';
import { seeded } from '../random.js';
import { actsOfFormerOwners, begunTwice, faultsInLog, logOf, type Act } from './audit.js';
import { startClients } from './clients.js';
import { faultsOf, inTurn } from './faults.js';
import { startFleet, type Fleet } from './fleet.js';
import { notLinearizable } from './linearizable.js';
import { startPulse } from './pulse.js';
import { request, turnsOf } from './turns.js';

/**
 * `npm run crash -- cluster [--rounds 15] [--seed 1] [--writers 16] [--nodes 3] [--pause 8] [--seconds 90] [--only kill,cut]`: whole
 * gateways on one home in a real PostgreSQL, two workers, and clients who count. Each round something befalls the
 * cluster. Judged are the clients' history, the log, effects, and what agents did; any fault is exit code 1, and the
 * folder with all logs stays.
 */
const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rounds: { type: 'string', default: '15' },
    seed: { type: 'string', default: '1' },
    writers: { type: 'string', default: '16' },
    nodes: { type: 'string', default: '3' },
    pause: { type: 'string', default: '8' },
    seconds: { type: 'string', default: 'Infinity' },
    only: { type: 'string' },
  },
});
const random = seeded(Number(values.seed));
const workers = ['gpu1', 'gpu2'];
const began = performance.now();
const violations = new Map<string, string[]>();
const takeOvers: number[] = [];
const handOvers: number[] = [];
/** In which no gateway answered a read over HTTP. */
const silences: number[] = [];

/** No round begins later; what has begun is judged. */
const isLate = (): boolean => performance.now() - began > Number(values.seconds) * 1_000;

const violated = (what: string, faults: readonly (string | undefined)[]): void => {
  const found = faults.filter((fault) => fault !== undefined);
  violations.set(what, [...(violations.get(what) ?? []), ...found]);
};

async function until<Value>(what: string, look: () => Value | undefined, msMax = 120_000): Promise<Value> {
  const since = performance.now();
  for (;;) {
    const value = look();
    if (value !== undefined) return value;
    if (performance.now() - since > msMax) throw new Error(`not within ${msMax} ms: ${what}`);
    await wait(20);
  }
}

async function addWorkers(fleet: Fleet): Promise<void> {
  for (const name of workers) {
    const { code = '' } = await request(fleet, 'POST', '/api/workers', { name });
    const { token = '' } = await request(fleet, 'POST', '/api/workers/join', { name, code });
    await fleet.addWorker(name, fleet.folder, token);
  }
}

async function campaign(fleet: Fleet): Promise<void> {
  const clients = startClients(fleet, Number(values.writers), random);
  await until('a first answer', () => clients.firstAnswer(1));
  await addWorkers(fleet);
  const turns = turnsOf(fleet, workers);
  const pulse = startPulse(fleet);
  const wanted = values.only?.split(',');
  const faults = faultsOf(Number(values.pause) * 1_000).filter(({ name }) => wanted?.includes(name) ?? true);
  const next = inTurn(faults, random);
  for (let round = 1; round <= Number(values.rounds) && !isLate(); round += 1) {
    turns.begin(round);
    await wait(random.between(500, 2_000));
    const { epoch } = await until('an owner', () => fleet.owners.at(-1));
    const owner = await until('the owner’s node', () => fleet.owner());
    const fault = next.next().value;
    const hitAt = performance.now();
    const said = await fault.befall(fleet, owner, seeded(random.between(0, 2 ** 31)));
    const answered = clients.acknowledged();
    if (['kill', 'drain', 'fence'].includes(fault.name))
      await until(`an owner after ${said}`, () => clients.firstAnswer(epoch + 1));
    await until(`answers after ${said}`, () => (clients.acknowledged() > answered + 20 ? true : undefined));
    const first = clients.firstAnswer(epoch + 1);
    const isPlanned = fault.name === 'drain';
    // An owner that hands over serves until then: what clients meet is the silence between two owners
    const silentFrom = isPlanned ? clients.lastAnswerBefore(epoch + 1) : hitAt;
    const tookMs =
      first === undefined || silentFrom === undefined ? undefined : Math.round(first - silentFrom);
    if (tookMs !== undefined) (isPlanned ? handOvers : takeOvers).push(tookMs);
    const silentMs = Math.round(pulse.silenceSince(hitAt));
    if (isPlanned) silences.push(silentMs);
    const after = isPlanned ? ` of silence; over HTTP ${silentMs} ms` : '';
    console.log(
      `  ${String(round).padStart(3)} ${said}${tookMs === undefined ? '' : `; another one answered after ${tookMs} ms${after}`}`,
    );
  }
  await pulse.end();
  await clients.end();
  await judge(fleet, clients, turns);
}

async function judge(
  fleet: Fleet,
  clients: ReturnType<typeof startClients>,
  turns: ReturnType<typeof turnsOf>,
): Promise<void> {
  violated('cut', await turns.faults());
  for (const [id, history] of clients.histories) {
    const adds = history.filter(({ what }) => what === 'add').length;
    const n = await clients.countOf(id);
    if (n < adds) violated('lost', [`${id} stands at ${n}, ${adds} were acknowledged`]);
    if (n > adds) violated('doubled', [`${id} stands at ${n}, ${adds} were asked for`]);
    violated(
      'not linearizable',
      [notLinearizable(history)].map((fault) => fault && `${id}: ${fault}`),
    );
  }
  const { faults, head } = await verifyPostgres(fleet.store);
  violated('unsound', faults);
  const log = [];
  for await (const entry of logOf(fleet.store)) log.push(entry);
  violated('disordered', faultsInLog(log));
  const journal = (await readFile(fleet.journal, 'utf8')).split('\n').filter(Boolean);
  violated('begun twice', begunTwice(journal.map((line) => JSON.parse(line) as Act)));
  const acts = await turns.acts();
  violated('late acts', actsOfFormerOwners(acts, fleet.owners));
  const figures: Readonly<Record<string, string | number>> = {
    'operations acknowledged': clients.acknowledged(),
    'entries of the log': head?.seq ?? 0,
    'effects that began at most once': clients.jobs.length,
    'turns on workers, whole': turns.whole(),
    'acts of agents beside their owner': acts.length,
    'owners in a row': fleet.owners.length,
    'take-over p50, p99': shown(takeOvers),
    'silence in a planned hand-over p50, p99': shown(handOvers),
    'the same over HTTP': shown(silences),
  };
  for (const [what, figure] of Object.entries(figures))
    console.log(`  ${what.padEnd(44)} ${figure.toLocaleString('en').padStart(20)}`);
}

function shown(given: number[]): string {
  const sorted = given.sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return sorted.length === 0 ? '-' : `${at(0.5)}, ${at(0.99)} ms (${sorted.length})`;
}

const folder = await mkdtemp(join(tmpdir(), 'troupe-cluster-'));
console.log(
  `\ncluster: ${values.rounds} rounds, seed ${values.seed}, ${values.nodes} nodes, ${values.writers} writers`,
);
for (const what of [
  'lost',
  'doubled',
  'not linearizable',
  'disordered',
  'begun twice',
  'late acts',
  'cut',
  'unsound',
])
  violations.set(what, []);
const fleet = await startFleet(folder, Number(values.nodes));
try {
  await campaign(fleet);
} catch (error) {
  violated('unexpected', [error instanceof Error ? (error.stack ?? error.message) : String(error)]);
} finally {
  await fleet.end();
}
const seconds = Math.round((performance.now() - began) / 1_000);
console.log(
  `  ${[...violations].map(([what, { length }]) => `${what} ${length}`).join(' · ')}  (${seconds} s)`,
);
const all = [...violations.values()].flat();
for (const violation of all.slice(0, 20)) console.log(`  ! ${violation}`);
if (all.length === 0) await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
else console.log(`  kept: ${folder}`);
process.exit(all.length === 0 ? 0 : 1);
