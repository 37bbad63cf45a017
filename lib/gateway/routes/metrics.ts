import { z } from 'zod';
import type { GatewayFacts } from './status.js';
import type { Meter } from '../meter.js';
import { route, type Route } from '../route.js';
import { connectorHealth } from '../../commands/connectors.js';
import type { Desk } from '../../commands/desk.js';

/**
 * What a Prometheus scrapes, in its text format. Numbers of the process and of what is kept; names of kinds, states,
 * engines and connectors, never of sessions, people or work: the number of series does not grow with use.
 */
export function metricRoutes(facts: GatewayFacts, meter: Meter): readonly Route[] {
  return [route('GET', '/metrics', 'metrics.read', { about: 'Metrics for Prometheus.', answer: z.string(), contentType: 'text/plain; version=0.0.4; charset=utf-8' }, async ({ desk }) => ({ body: render(await measure(desk, facts, meter)) }))];
}

interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

interface Sample { readonly value: number; readonly labels?: Readonly<Record<string, string>>; readonly suffix?: string }

async function measure(desk: Desk, facts: GatewayFacts, meter: Meter): Promise<readonly Metric[]> {
  const { status, inspection, world } = desk.supervisor;
  const kinds = inspection.kinds();
  const [engines, connectors, deadLetters] = await Promise.all([desk.engines.list(), connectorHealth(desk), inspection.deadLetters()]);
  const { user, system } = process.cpuUsage();
  return [
    gauge('troupe_info', 'Which Troupe this is.', [{ value: 1, labels: { version: facts.version, instance: facts.instance } }]),
    gauge('troupe_up', '1 while it works and its store takes writes.', [{ value: Number((status.state === 'running' || status.state === 'degraded') && status.store.state === 'ready') }]),
    gauge('troupe_degraded_reasons', 'Things that are not as they should be; GET /api/inspect/supervision names them.', [{ value: status.reasons.length }]),
    gauge('troupe_uptime_seconds', 'Since this gateway began.', [{ value: (world.steady() - facts.startedAt) / 1_000 }]),
    gauge('troupe_log_position', 'The newest position of the log.', [{ value: inspection.head }]),
    gauge('troupe_log_floor', 'Entries at or below this position are gone.', [{ value: inspection.floor }]),
    counter('troupe_commits_total', 'Batches written since the start.', [{ value: status.commits }]),
    counter('troupe_events_total', 'Events decided since the start.', [{ value: status.events }]),
    gauge('troupe_effects', 'Effects at work: turns of agents, deliveries and the like.', [{ value: status.effects }]),
    gauge('troupe_actors_awake', 'Actors in memory.', [{ value: status.awake }]),
    gauge('troupe_dead_letters', 'Events that could not be handled, at most a thousand are counted.', [{ value: deadLetters }]),
    gauge('troupe_actors', 'Actors by kind.', kinds.map(({ kind }) => ({ value: inspection.counts(kind).total, labels: { kind } }))),
    gauge('troupe_actors_halted', 'Actors that failed too often and wait for a person.', kinds.map(({ kind }) => ({ value: inspection.counts(kind).halted, labels: { kind } }))),
    gauge('troupe_actors_in_state', 'Actors by kind and state; one in parallel states counts in each.', kinds.flatMap(({ kind }) => Object.entries(inspection.counts(kind).states).map(([state, value]) => ({ value, labels: { kind, state } })))),
    counter('troupe_restarts_total', 'Restarts of actors since the start.', kinds.map(({ kind, restarts }) => ({ value: restarts, labels: { kind } }))),
    gauge('troupe_engine_available', '1 where the engine\'s program was found.', Object.values(engines.engines).map(({ name, available }) => ({ value: Number(available), labels: { engine: name } }))),
    gauge('troupe_connector_running', '1 where the connector is connected.', connectors.map(({ name, status: state }) => ({ value: Number(state === 'running'), labels: { connector: name } }))),
    counter('troupe_http_requests_total', 'Requests answered, by the first digit of the status.', [...meter.answered].map(([digit, value]) => ({ value, labels: { status: `${digit}xx` } }))),
    histogram('troupe_http_request_duration_seconds', 'How long requests took.', meter),
    counter('process_cpu_seconds_total', 'Processor time of this process.', [{ value: (user + system) / 1e6 }]),
    gauge('process_resident_memory_bytes', 'Memory of this process.', [{ value: process.memoryUsage.rss() }]),
    gauge('process_start_time_seconds', 'When this process began, epoch seconds.', [{ value: Math.round(world.now() / 1_000 - process.uptime()) }]),
  ];
}

const gauge = (name: string, help: string, samples: readonly Sample[]): Metric => ({ name, type: 'gauge', help, samples });
const counter = (name: string, help: string, samples: readonly Sample[]): Metric => ({ name, type: 'counter', help, samples });

function histogram(name: string, help: string, { durations: { bounds, counts, sumSeconds } }: Meter): Metric {
  const buckets = counts.map((value, index) => ({ value, suffix: '_bucket', labels: { le: String(bounds[index] ?? '+Inf') } }));
  return { name, type: 'histogram', help, samples: [...buckets, { value: sumSeconds, suffix: '_sum' }, { value: counts.at(-1) ?? 0, suffix: '_count' }] };
}

const render = (metrics: readonly Metric[]): string => metrics.filter(({ samples }) => samples.length > 0).map(({ name, type, help, samples }) =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.map(({ value, labels = {}, suffix = '' }) => `${name}${suffix}${labelled(labels)} ${value}\n`).join('')}`).join('');

function labelled(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
