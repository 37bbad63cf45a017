import { createHash } from 'node:crypto';
import { limits, noticeKey, thingOfKey, type NewNotice } from '../../../machines/notifier/context.js';
import { isRefusal } from '../../../machines/refusals.js';
import { titleCharsMax } from '../../../machines/waiting.js';
import { limits as sessionLimits } from '../../../machines/session/context.js';
import { choicesOf, deliveryIdOf, wordsOf } from '../../client/decision.js';
import type { WaitingPage } from '../../supervisor/contract.js';
import type { App } from '../app.js';
import { deliveryOf } from '../connectors.js';
import { newestRow } from '../iterate.js';
import { definitionAt } from '../workflow-runs/definitions.js';
import { presentGate } from '../workflow-runs/run-gates.js';

/** One row of what waits, of all kinds. */
export type WaitingItem = WaitingPage['items'][number];

/** The thing that waits under a key (`work-item/ACM-1/a-3`); undefined: it waits no more. */
export async function waitingAt({ supervisor }: App, key: string): Promise<WaitingItem | undefined> {
  const { kind, id, waitingId } = thingOfKey(key);
  const { items } = await supervisor.waiting({ actor: { kind, id } });
  return items.find(({ waiting }) => waiting.id === waitingId);
}

/**
 * A thing that waits as a person reads it away from the console: what exactly is asked, and where it is decided. It
 * may be decided where it is read only if all that is asked stands in the text; a polling program, a version of a
 * workflow, a project's settings and a budget are read and decided in the console. Of what cannot be read the title
 * alone is said.
 */
export async function describe(app: App, item: WaitingItem): Promise<Omit<NewNotice, 'delayMs'>> {
  const { actor, waiting } = item;
  const { what, title, on, since, until } = waiting;
  const asked = await textOf(app, item).catch((error: unknown): Asked => {
    // a damaged row of one thing would else keep everything from being notified
    app.supervisor.environment.log.warn(
      { err: error, kind: actor.kind, id: actor.id },
      'could not read what waits; its notification says only that it waits',
    );
    return { text: '', isWhole: false };
  });
  const text = (app.redact ?? same)(asked.text).slice(0, limits.textCharsMax);
  const isWhole = asked.isWhole && asked.text.length <= limits.textCharsMax;
  const key = { kind: actor.kind, id: actor.id, waitingId: waiting.id };
  return {
    ...key,
    what,
    title,
    text,
    on,
    since,
    until,
    link: `${app.settings.consoleUrl ?? ''}/#/inbox/${encodeURIComponent(noticeKey(key))}`,
    choices: isWhole
      ? choicesOf({ what })
          .filter((choice) => choice !== 'escalate')
          .map((choice) => ({ choice, label: wordsOf({ what }, choice)[0] }))
      : [],
    digest: digestOf([key, what, title, text, since]),
  };
}

const same = <Value>(value: Value): Value => value;

/** What a decision rests on, in the 22 characters that fit into a button. */
const digestOf = (shown: unknown): string =>
  createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 22);

interface Asked {
  readonly text: string;
  /** Nothing of what is asked is left out. */
  readonly isWhole: boolean;
}

async function textOf(app: App, { actor, waiting }: WaitingItem): Promise<Asked> {
  const { what, title } = waiting;
  const { id } = actor;
  if (what === 'permission' && actor.kind === 'session') {
    const found = await newestRow(
      app.supervisor,
      { kind: 'session', id },
      'permissions',
      (row) => row.id === waiting.id,
    );
    const input = found?.row.input ?? '';
    return { text: input, isWhole: input !== '' && input.length < sessionLimits.toolInputCharsMax };
  }
  if (what === 'approval' && actor.kind === 'work-item') {
    const request = (await app.supervisor.get('work-item', id))?.view.approvalRequest ?? '';
    return { text: request, isWhole: request !== '' };
  }
  if (what === 'gate' && actor.kind === 'workflow-run') {
    const run = (await app.supervisor.get('workflow-run', id))?.view;
    if (run?.parked?.gateKey !== waiting.id) return { text: '', isWhole: false }; // another one stands before it
    const definition = await definitionAt(app, run.workflowId, run.definitionVersion);
    const { description } = presentGate(run, run.parked, definition, null, null) as { description?: string };
    return { text: description ?? '', isWhole: title.length < titleCharsMax };
  }
  if ((what === 'resume' || what === 'silent') && actor.kind === 'session') {
    const lastError = (await app.supervisor.get('session', id))?.view.lastError ?? null;
    return { text: lastError ?? 'Nothing has come from its agent, and it waits for no one.', isWhole: true };
  }
  if (/delivery$/.test(what) && actor.kind === 'connector') {
    const read = await deliveryOf(app, id, deliveryIdOf(waiting.id));
    return isRefusal(read) ? { text: '', isWhole: false } : { text: read.text ?? '', isWhole: true };
  }
  return { text: '', isWhole: false };
}

/** Whose work it is: the employee of a session, of a work item, of an account. */
export async function employeeOf(app: App, { actor: { kind, id } }: WaitingItem): Promise<string | null> {
  if (kind === 'session') return (await app.supervisor.get('session', id))?.view.employee ?? null;
  if (kind === 'work-item') return (await app.supervisor.get('work-item', id))?.view.assignee ?? null;
  return kind === 'budget' ? id : null;
}
