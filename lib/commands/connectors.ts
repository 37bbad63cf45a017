import { createHash } from 'node:crypto';
import { noCapabilities, type Connectors } from '../../actors/connectors/registry.js';
import { system } from '../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import type { Supervisor } from '../supervisor/contract.js';
import { announceFact } from '../records/records.js';
import type { ConnectorView, DeliveryChoice, DeliveryRow } from '../../machines/connector/context.js';
import type { App, GatewayActor } from './app.js';
import { askActor, optionsOf, replyWith, type Request, type Reply } from './request.js';
import { idsOf, newestRow } from './iterate.js';

/**
 * Every configured connector is an actor of its name; what is no longer configured is stopped and keeps its
 * history. At every start and reload. One that cannot be told (a person has to resume it) stands in no one's
 * way.
 */
export async function alignConnectors(
  supervisor: App['supervisor'],
  connectors: Connectors,
): Promise<{ readonly stopped: readonly string[]; readonly errors: ReadonlyMap<string, string> }> {
  const by = system('connectors');
  const stopped: string[] = [];
  const errors = new Map<string, string>();
  const accepted = (name: string, answer: GatewayActor<'connector'> | Refusal): boolean => {
    if (isRefusal(answer)) errors.set(name, answer.message);
    return !isRefusal(answer);
  };
  const configured = connectors.instances();
  for (const { name, type, employee } of configured) {
    const input = {
      name,
      connectorType: type,
      employee,
      capabilities: { ...capabilitiesOf(connectors, type) },
    };
    const view = await supervisor.get('connector', name);
    accepted(
      name,
      view === undefined
        ? await supervisor.spawn('connector', { id: name, input, by })
        : await supervisor.ask('connector', name, { type: 'connector.reload', ...input }, { by }),
    );
  }
  for (const { id, view } of await listed(supervisor)) {
    if (configured.some(({ name }) => name === id) || view.status === 'stopped') continue;
    if (accepted(id, await supervisor.ask('connector', id, { type: 'connector.stop' }, { by })))
      stopped.push(id);
  }
  return { stopped, errors };
}

export interface Reloaded {
  readonly started: readonly string[];
  readonly stopped: readonly string[];
  readonly errors: readonly string[];
}

/** Restart what is configured, as it is configured now, and wait until each runs or says why not. */
export async function reloadConnectors(app: App): Promise<Reloaded | Refusal> {
  const { connectors, supervisor } = app;
  if (connectors === undefined) return { started: [], stopped: [], errors: [] };
  try {
    await connectors.reread();
  } catch (error) {
    return refuse('CONFLICT', {}, error instanceof Error ? error.message : String(error));
  }
  const { stopped, errors } = await alignConnectors(supervisor, connectors);
  const configured = connectors.instances();
  const ended = await Promise.all(
    configured.map(async ({ name, type }) => {
      if (!connectors.types.some((known) => known.type === type))
        return { name, error: `Unknown connector type "${type}" for instance "${name}"` };
      const refused = errors.get(name);
      const view = refused === undefined ? await settled(supervisor, name) : undefined;
      return {
        name,
        error:
          view?.status === 'running' ? undefined : `${name}: ${refused ?? view?.detail ?? 'not opened yet'}`,
      };
    }),
  );
  const unstopped = [...errors].flatMap(([name, error]) =>
    configured.some((one) => one.name === name) ? [] : [`${name}: ${error}`],
  );
  const reloaded = {
    started: ended.filter(({ error }) => error === undefined).map(({ name }) => name),
    stopped,
    errors: [...ended.flatMap(({ error }) => error ?? []), ...unstopped],
  };
  await announceFact(supervisor, 'connectors:reloaded', reloaded);
  return reloaded;
}

/** A connector's health as the API shows it, in the order of the configuration. */
export async function connectorHealth(app: App): Promise<readonly Health[]> {
  const views = await Promise.all(
    (app.connectors?.instances() ?? []).map(({ name }) => app.supervisor.get('connector', name)),
  );
  return views.flatMap((view) => {
    if (view === undefined) return [];
    const { name, instanceId, employee, status, detail, capabilities } = view.view as ConnectorView;
    return [
      {
        name,
        instanceId,
        ...(employee === null ? {} : { employee }),
        status,
        ...(detail === null ? {} : { detail }),
        capabilities,
      },
    ];
  });
}

export interface Health extends Pick<ConnectorView, 'name' | 'instanceId' | 'status' | 'capabilities'> {
  readonly employee?: string;
  readonly detail?: string;
}

export interface Outbound {
  readonly channel: string;
  readonly text: string;
  readonly thread?: string | null | undefined;
}

/**
 * Send, and wait for what became of it: `sent`, `failed` or `unknown`. The text stays in the outbox until
 * then, also over a crash.
 */
export async function sendThrough(
  request: Request,
  name: string,
  { channel, text, thread = null }: Outbound,
): Promise<Reply<Pick<DeliveryRow, 'id' | 'status' | 'reason' | 'messageId'>> | Refusal> {
  if (!request.app.connectors?.instances().some((instance) => instance.name === name))
    return refuse('NOT_FOUND', { kind: 'connector', id: name }, 'Not found');
  const { idempotency } = request;
  const deliveryId =
    idempotency === undefined
      ? request.app.supervisor.environment.ids.next()
      : `k-${digest(`${idempotency.scope} ${idempotency.key}`).slice(0, 40)}`;
  const view = await request.app.supervisor.ask(
    'connector',
    name,
    { type: 'delivery.request', deliveryId, channel, text, thread },
    {
      ...optionsOf(request),
      until: (at) => (at.view as ConnectorView).last?.deliveryId === deliveryId,
    },
  );
  if (isRefusal(view)) return view;
  const delivery = await newestRow(
    request.app.supervisor,
    { kind: 'connector', id: name },
    'deliveries',
    (row) => row.id === deliveryId,
  ); // a rehearsal has none
  return replyWith(
    view,
    delivery?.row ?? { id: deliveryId, status: 'queued', reason: null, messageId: null },
  );
}

/** A message through a connector, and its text as long as something may still become of it. */
export async function deliveryOf(
  { supervisor }: App,
  id: string,
  deliveryId: string,
): Promise<DeliveryRead | Refusal> {
  const actor = { kind: 'connector', id } as const;
  const isIt = (row: { readonly id: string }): boolean => row.id === deliveryId;
  const found =
    (await supervisor.get('connector', id)) && (await newestRow(supervisor, actor, 'deliveries', isIt));
  if (found === undefined || found === null)
    return refuse('NOT_FOUND', { kind: 'delivery', id: deliveryId }, 'Not found');
  const kept = await newestRow(supervisor, actor, 'outbox', (row) => row.deliveryId === deliveryId);
  return { delivery: found.row, text: kept?.row.text ?? null };
}

export interface DeliveryRead {
  readonly delivery: DeliveryRow;
  readonly text: string | null;
}

/** What a person makes of a message that did not arrive, or may not have. The first one counts. */
export async function settleDelivery(
  request: Request,
  {
    name,
    deliveryId,
    choice,
    waitingId,
  }: {
    readonly name: string;
    readonly deliveryId: string;
    readonly choice: DeliveryChoice;
    readonly waitingId: string | undefined;
  },
): Promise<Reply<DeliveryRead> | Refusal> {
  const before = await deliveryOf(request.app, name, deliveryId);
  if (isRefusal(before)) return before;
  const done = await askActor(request, 'connector', name, {
    type: 'delivery.settle',
    deliveryId,
    choice,
    ...(waitingId !== undefined && { waitingId }),
  });
  if (isRefusal(done)) return done;
  const after = await deliveryOf(request.app, name, deliveryId);
  return isRefusal(after) ? after : { ...done, body: after };
}

const capabilitiesOf = ({ types }: Connectors, type: string) =>
  types.find((known) => known.type === type)?.capabilities ?? noCapabilities;

async function settled(supervisor: Supervisor, name: string): Promise<ConnectorView | undefined> {
  const started = await supervisor.ask(
    'connector',
    name,
    { type: 'connector.start' },
    {
      by: system('connectors'),
      until: ({ view }) => ['running', 'error'].includes((view as ConnectorView).status),
    },
  );
  return isRefusal(started) ? undefined : (started.view as ConnectorView);
}

async function listed(
  supervisor: Supervisor,
): Promise<readonly { readonly id: string; readonly view: ConnectorView }[]> {
  const views = await Promise.all(
    (await idsOf(supervisor, 'connector', { index: 'all' })).map((id) => supervisor.get('connector', id)),
  );
  return views.flatMap((view) =>
    view === undefined ? [] : [{ id: view.id, view: view.view as ConnectorView }],
  );
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');
