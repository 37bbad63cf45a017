import type { GatewayFacts } from './routes/status.js';
import type { RequestMetrics } from './observability.js';
import { connectorHealth } from '../commands/connectors.js';
import type { App } from '../commands/app.js';
import { homeId } from '../../actors/home/kind.js';

/** What is measured under one name. */
export interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly suffix?: string;
}

/** Numbers of the process and of what is kept, as of now. */
export async function measure(
  app: App,
  facts: GatewayFacts,
  metrics: RequestMetrics,
): Promise<readonly Metric[]> {
  const { status, inspection, environment } = app.supervisor;
  const kinds = inspection.kinds();
  const [engines, connectors, deadLetters, home] = await Promise.all([
    app.engines.list(),
    connectorHealth(app),
    inspection.deadLetters(),
    app.supervisor.get('home', homeId),
  ]);
  const backup = home?.view.backup;
  const { user, system } = process.cpuUsage();
  return [
    gauge('troupe_info', 'The version of Troupe.', [
      { value: 1, labels: { version: facts.version, instance: facts.instance } },
    ]),
    gauge('troupe_up', '1 while the gateway works and its store accepts writes.', [
      {
        value: Number(
          (status.state === 'running' || status.state === 'degraded') && status.store.state === 'ready',
        ),
      },
    ]),
    gauge('troupe_degraded_reasons', 'Current problems; GET /api/inspect/supervision lists them.', [
      { value: status.reasons.length },
    ]),
    gauge('troupe_uptime_seconds', 'Seconds since this gateway started.', [
      { value: (environment.clock.monotonic() - facts.startedAt) / 1_000 },
    ]),
    gauge('troupe_log_position', 'The newest position of the log.', [{ value: inspection.head }]),
    gauge('troupe_log_floor', 'Entries at or below this position are deleted.', [
      { value: inspection.floor },
    ]),
    gauge(
      'troupe_retention_held_seconds',
      'How far the wall clock is ahead of verified time; nothing is deleted for it. See GET /api/retention.',
      [{ value: status.retentionHeldMs / 1_000 }],
    ),
    counter('troupe_commits_total', 'Batches written since the start.', [{ value: status.commits }]),
    counter('troupe_events_total', 'Events handled since the start.', [{ value: status.events }]),
    gauge('troupe_effects', 'Running effects: turns of agents, deliveries and the like.', [
      { value: status.effects },
    ]),
    gauge('troupe_actors_awake', 'Actors in memory.', [{ value: status.awake }]),
    gauge('troupe_actors_stalled', 'Stalled actors: work is due, but none is running; should be 0.', [
      { value: status.stalled },
    ]),
    counter('troupe_actors_stalled_total', 'Actors found stalled since the start.', [
      { value: status.stalledTotal },
    ]),
    gauge(
      'troupe_reindexing_actors',
      'Actors not yet indexed for the lists of a new version of their kind.',
      status.reindexing.map(({ kind, done, total }) => ({
        value: Math.max(0, total - done),
        labels: { kind },
      })),
    ),
    gauge('troupe_dead_letters', 'Events that could not be handled; counted up to 1000.', [
      { value: deadLetters },
    ]),
    gauge(
      'troupe_actors',
      'Actors by kind.',
      kinds.map(({ kind }) => ({ value: inspection.counts(kind).total, labels: { kind } })),
    ),
    gauge(
      'troupe_actors_halted',
      'Actors halted after too many failures.',
      kinds.map(({ kind }) => ({ value: inspection.counts(kind).halted, labels: { kind } })),
    ),
    gauge(
      'troupe_actors_in_state',
      'Actors by kind and state; an actor in parallel states counts in each.',
      kinds.flatMap(({ kind }) =>
        Object.entries(inspection.counts(kind).states).map(([state, value]) => ({
          value,
          labels: { kind, state },
        })),
      ),
    ),
    counter(
      'troupe_restarts_total',
      'Restarts of actors since the start.',
      kinds.map(({ kind, restarts }) => ({ value: restarts, labels: { kind } })),
    ),
    gauge(
      'troupe_engine_available',
      "1 if the engine's program was found.",
      Object.values(engines.engines).map(({ name, available }) => ({
        value: Number(available),
        labels: { engine: name },
      })),
    ),
    gauge(
      'troupe_connector_running',
      '1 if the connector is connected.',
      connectors.map(({ name, status: state }) => ({
        value: Number(state === 'running'),
        labels: { connector: name },
      })),
    ),
    gauge(
      'troupe_backup_made_timestamp_seconds',
      'When the last backup by schedule was made, epoch seconds.',
      typeof backup?.madeAt === 'number' ? [{ value: backup.madeAt / 1_000 }] : [],
    ),
    gauge('troupe_backup_failing', '1 while backups by schedule fail; should be 0.', [
      { value: Number((backup?.failing ?? null) !== null) },
    ]),
    counter(
      'troupe_http_requests_total',
      'Requests handled, by the first digit of the status.',
      [...metrics.answered].map(([digit, value]) => ({ value, labels: { status: `${digit}xx` } })),
    ),
    histogram('troupe_http_request_duration_seconds', 'Duration of requests.', metrics),
    counter('process_cpu_seconds_total', 'Processor time of this process.', [
      { value: (user + system) / 1e6 },
    ]),
    gauge('process_resident_memory_bytes', 'Memory of this process.', [{ value: process.memoryUsage.rss() }]),
    gauge('process_start_time_seconds', 'When this process started, epoch seconds.', [
      { value: Math.round(environment.clock.now() / 1_000 - process.uptime()) },
    ]),
  ];
}

const gauge = (name: string, help: string, samples: readonly Sample[]): Metric => ({
  name,
  type: 'gauge',
  help,
  samples,
});
const counter = (name: string, help: string, samples: readonly Sample[]): Metric => ({
  name,
  type: 'counter',
  help,
  samples,
});

function histogram(
  name: string,
  help: string,
  { durations: { bounds, counts, sumSeconds } }: RequestMetrics,
): Metric {
  const buckets = counts.map((value, index) => ({
    value,
    suffix: '_bucket',
    labels: { le: String(bounds[index] ?? '+Inf') },
  }));
  return {
    name,
    type: 'histogram',
    help,
    samples: [
      ...buckets,
      { value: sumSeconds, suffix: '_sum' },
      { value: counts.at(-1) ?? 0, suffix: '_count' },
    ],
  };
}
