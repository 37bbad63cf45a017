import { a2aRoutes } from './a2a.js';
import { authRoutes, type Pairing } from './auth.js';
import { backupRoutes, type BackUp } from './backup.js';
import { consoleRoutes, type Console, statusRoutes, type GatewayFacts } from './status.js';
import { budgetRoutes, orgRoutes } from './org.js';
import { connectorRoutes } from './connectors.js';
import { cronRoutes } from './cron.js';
import { workflowTriggerRoutes } from './workflows/triggers.js';
import { searchRoutes } from './sessions/search.js';
import { sessionRoutes } from './sessions/sessions.js';
import { sessionWordsRoutes } from './sessions/words.js';
import { workItemLedgerRoutes } from './work-items/ledger.js';
import { sessionLifecycleRoutes } from './sessions/lifecycle.js';
import { workItemRoutes } from './work-items/work-items.js';
import { approvalRoutes } from './work-items/approvals.js';
import { changeRoutes } from './sessions/changes.js';
import { delegationRoutes } from './sessions/delegations.js';
import { engineRoutes } from './engines.js';
import { inspectRoutes } from './inspect/actors.js';
import { deadLetterRoutes } from './inspect/dead-letters.js';
import { inspectBundleRoutes } from './inspect/bundle.js';
import { inspectSystemRoutes } from './inspect/system.js';
import { statelyRoutes } from './inspect/stately.js';
import { inspectTreeRoutes } from './inspect/tree.js';
import { fileRoutes } from './files/files.js';
import { knowledgeRoutes, skillRoutes } from './skills.js';
import { mcpRoutes } from './mcp.js';
import { metricRoutes } from './metrics.js';
import { pageRoutes } from './page.js';
import { docsRoutes } from './docs.js';
import { attentionRoutes } from './attention.js';
import { eraseRoutes } from './erase.js';
import { heldDecisionRoutes } from './held-decisions.js';
import { hookRoutes } from './hook.js';
import { trustRoutes } from './trust.js';
import { bundleRoutes } from './bundles.js';
import { retentionRoutes } from './retention.js';
import { deviceRoutes } from './devices.js';
import { pushRoutes } from './push.js';
import { workflowApprovalRoutes } from './workflows/approvals.js';
import { workflowDefinitionRoutes } from './workflows/definitions.js';
import { workflowRunRoutes } from './workflows/runs.js';
import { workerRoutes } from './workers.js';
import { notificationRoutes } from './notifications.js';
import { openapiRoutes } from '../openapi.js';
import { requestMetricsOf, type RequestMetrics } from '../observability.js';
import type { Evidence } from '../../records/evidence/evidence.js';
import type { Records } from '../../records/records.js';
import type { Route } from '../route.js';

export type { GatewayFacts };

/** What parts of the house there are; a route whose part is absent is not there either. */
export interface RoutesOptions {
  readonly backup?: BackUp | undefined;
  readonly records?: Records | undefined;
  readonly evidence?: Evidence | undefined;
  readonly pairing?: Pairing | undefined;
  readonly metrics?: RequestMetrics | undefined;
  readonly console?: Console | undefined;
  readonly hookSecret?: string | undefined;
  /** Aborted where the gateway begins to drain: what stays open until then ends. */
  readonly ending?: AbortSignal | undefined;
  /** Of the host's own. */
  readonly own?: readonly Route[] | undefined;
}

/** The table of contents: every route of the gateway. */
export function routesOf(facts: GatewayFacts, options: RoutesOptions = {}): readonly Route[] {
  const routes: Route[] = [
    ...workItemRoutes,
    ...workItemLedgerRoutes,
    ...approvalRoutes,
    ...sessionLifecycleRoutes, // before sessionRoutes: /api/sessions/interrupted is no id
    ...sessionWordsRoutes,
    ...sessionRoutes,
    ...searchRoutes,
    ...delegationRoutes,
    ...changeRoutes,
    ...engineRoutes,
    ...workerRoutes,
    ...connectorRoutes,
    ...workflowTriggerRoutes,
    ...cronRoutes(options.records?.runs),
    ...inspectRoutes,
    ...deadLetterRoutes,
    ...inspectSystemRoutes,
    ...inspectTreeRoutes,
    ...statelyRoutes,
    ...inspectBundleRoutes,
    ...pageRoutes,
    ...docsRoutes,
    ...statusRoutes(facts),
    ...consoleRoutes(facts, options.console),
    ...metricRoutes(facts, options.metrics ?? requestMetricsOf()),
    ...authRoutes(options.pairing),
    ...(options.pairing === undefined ? [] : [...deviceRoutes, ...pushRoutes]),
    ...backupRoutes(options.backup),
    ...retentionRoutes,
    ...eraseRoutes,
    ...trustRoutes,
    ...hookRoutes(options.hookSecret),
    ...a2aRoutes(facts.version, options.ending),
    ...attentionRoutes,
    ...heldDecisionRoutes,
    ...notificationRoutes,
    ...orgRoutes(options.records),
    ...budgetRoutes(options.records),
    ...bundleRoutes(options.records),
    ...fileRoutes(options.records),
    ...skillRoutes(options.records),
    ...knowledgeRoutes(options.records),
    ...workflowDefinitionRoutes(options.evidence),
    ...workflowApprovalRoutes,
    ...workflowRunRoutes(options.evidence),
  ];
  for (const route of options.own ?? []) {
    if (routes.some(({ method, path }) => method === route.method && path === route.path))
      throw new TypeError(`There is a route ${route.method} ${route.path} already.`);
    routes.push(route);
  }
  routes.push(...mcpRoutes(() => routes, facts.version));
  routes.push(...openapiRoutes(() => routes, facts.version));
  return routes;
}
