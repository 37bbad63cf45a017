import type { InboundMessage } from '../../actors/connectors/connector.js';
import type { Caller } from '../../machines/caller.js';
import { isRefusal } from '../../machines/refusals.js';
import { decisionRequest, refusalIn, type Choice } from '../client/decision.js';
import type { App } from '../commands/app.js';
import { idsOf } from '../commands/iterate.js';
import { describe, type WaitingItem } from '../commands/notifications/describe.js';
import { waitingAt } from '../commands/notifications/waiting-at.js';
import type { Post } from './in-process.js';

/**
 * A button under a notice was pressed. It counts from the people whom `notify.to` names for that channel, for the
 * thing as it was shown, and is judged as a request over HTTP: by the same route, as the person who pressed.
 * Answers what that person is told where it did not do what the button says.
 */
export async function answerNotice(
  app: App,
  post: Post,
  connector: string,
  { from, channel, choice = '' }: InboundMessage,
): Promise<string | undefined> {
  const [n, digest, decision] = choice.split('.');
  const notices = await noticed(app, connector, Number(n), digest ?? '');
  if (notices.length === 0) return 'It waits no more.';
  const notice = notices.find((one) =>
    (app.settings.notify?.to ?? []).some(
      (to) => to.connector === connector && to.channel === one.channel && to.decidedBy.includes(from),
    ),
  );
  if (notice === undefined) {
    app.supervisor.environment.log.info(
      { connector, channel: channel.slice(0, 128), from: from.slice(0, 128) },
      'a decision of a person not in decidedBy was ignored',
    );
    return 'You may not decide this here.';
  }
  const item = await waitingAt(app, notice.key);
  if (item === undefined) return 'It waits no more.';
  const shown = await describe(app, item);
  if (shown.digest !== digest) return 'It has changed since it was shown. Read it again.';
  const { kind, id } = item.actor;
  // A client may send what stood on no button
  const isOffered = shown.choices.some(({ choice: offered }) => offered === decision);
  const request = isOffered
    ? decisionRequest(
        { what: item.waiting.what, id, waitingId: item.waiting.id, ...within(item) },
        decision as Choice,
      )
    : undefined;
  if (request === undefined) return 'This cannot be decided here. Open the link.';
  const reply = await post(personOf(connector, from), request.path, request.body);
  if (!isRefusal(reply)) return refusalIn(reply.body);
  app.supervisor.environment.log.info({ kind, id, code: reply.code }, 'a decision by a button was refused');
  return reply.message;
}

/** In the audit log `device:team:U012AB3CD`: a person with the authority of a paired browser. */
const personOf = (connector: string, from: string): Caller => ({
  type: 'device',
  id: `${connector}:${from}`,
});

const within = ({ waiting }: WaitingItem): { readonly within?: string } =>
  waiting.within === undefined ? {} : { within: waiting.within };

/** Channels that were sent the same thing at the same time number it alike. */
async function noticed(
  app: App,
  connector: string,
  n: number,
  digest: string,
): Promise<readonly { readonly key: string; readonly channel: string }[]> {
  const found: { readonly key: string; readonly channel: string }[] = [];
  for (const id of await idsOf(app.supervisor, 'notifier', { index: 'all' })) {
    const view = (await app.supervisor.get('notifier', id))?.view;
    if (view?.destination.type !== 'connector' || view.destination.connector !== connector) continue;
    const notice = view.notices.find((one) => one.n === n && one.digest === digest);
    if (notice !== undefined) found.push({ key: notice.key, channel: view.destination.channel });
  }
  return found;
}
