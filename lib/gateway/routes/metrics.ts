import { z } from 'zod';
import type { GatewayFacts } from './status.js';
import type { RequestMetrics } from '../observability.js';
import { route, type Route } from '../route.js';
import { measure, type Metric } from '../measure.js';

/**
 * What a Prometheus scrapes, in its text format. Numbers of the process and of what is kept; names of kinds,
 * states, engines and connectors, never of sessions, people or work: the number of series does not grow with
 * use.
 */
export function metricRoutes(facts: GatewayFacts, metrics: RequestMetrics): readonly Route[] {
  return [
    route(
      'GET',
      '/metrics',
      'metrics.read',
      {
        about: 'Metrics for Prometheus.',
        answer: z.string(),
        contentType: 'text/plain; version=0.0.4; charset=utf-8',
      },
      async ({ app }) => ({ body: render(await measure(app, facts, metrics)) }),
    ),
  ];
}

const render = (metrics: readonly Metric[]): string =>
  metrics
    .filter(({ samples }) => samples.length > 0)
    .map(
      ({ name, type, help, samples }) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples
          .map(({ value, labels = {}, suffix = '' }) => `${name}${suffix}${labelled(labels)} ${value}\n`)
          .join('')}`,
    )
    .join('');

function labelled(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
