import { createHash } from 'node:crypto';
import { system } from '../../../machines/caller.js';
import type { Destination, NotifierView } from '../../../machines/notifier/context.js';
import type { App, GatewayActor } from '../app.js';
import { expected } from '../request.js';
import { idsOf, recordsOf } from '../iterate.js';

/** What follows what waits, as caller. */
export const notifications = system('notifications');

/**
 * A notifier for each destination of the configuration; one that is configured no more is stopped. Answers those
 * that are in use.
 */
export async function alignNotifiers(app: App): Promise<readonly GatewayActor<'notifier'>[]> {
  const { supervisor } = app;
  const wanted = new Map((await destinationsOf(app)).map((destination) => [idOf(destination), destination]));
  for (const id of await idsOf(supervisor, 'notifier', { index: 'all' })) {
    if (wanted.has(id) || (await supervisor.get('notifier', id))?.value === 'stopped') continue;
    expected(await supervisor.ask('notifier', id, { type: 'notifier.stop' }, { by: notifications }));
  }
  const all: GatewayActor<'notifier'>[] = [];
  for (const [id, destination] of wanted) {
    const known = await supervisor.get('notifier', id);
    all.push(
      known === undefined
        ? expected(await supervisor.spawn('notifier', { id, input: { destination }, by: notifications }))
        : known.value === 'stopped'
          ? expected(
              await supervisor.ask(
                'notifier',
                id,
                { type: 'notifier.start', destination },
                { by: notifications },
              ),
            )
          : known,
    );
  }
  return all;
}

/** Those that are in use, as they stand. */
export async function notifiersOf({ supervisor, settings }: App): Promise<readonly NotifierView[]> {
  if (settings.notify === undefined) return [];
  const known = await recordsOf(
    supervisor,
    'notifier',
    await idsOf(supervisor, 'notifier', { index: 'all' }),
  );
  return known.filter(({ status }) => status !== 'stopped');
}

export async function destinationsOf({
  settings: { notify },
  records,
}: App): Promise<readonly Destination[]> {
  if (notify === undefined) return [];
  const browsers = notify.push ? [...((await records?.devices.notified())?.keys() ?? [])] : [];
  return [
    ...notify.to.map(({ connector, channel }) => ({ type: 'connector', connector, channel }) as const),
    ...(notify.command === null ? [] : [{ type: 'command' } as const]),
    ...browsers.map((device) => ({ type: 'push', device }) as const),
  ];
}

/** `team:C024BE91L`, or a hash where the channel's name fits into no id; `push.<device>`, as no connector can be called. */
function idOf(destination: Destination): string {
  if (destination.type === 'command') return 'command';
  if (destination.type === 'push') return `push.${destination.device}`;
  const { connector, channel } = destination;
  const name = /^[A-Za-z0-9._-]+$/.test(channel)
    ? channel
    : createHash('sha256').update(channel).digest('hex').slice(0, 32);
  return `${connector}:${name}`;
}
