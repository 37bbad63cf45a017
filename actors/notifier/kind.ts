import { notifierView, type NotifierContext, type NotifierStatus } from '../../machines/notifier/context.js';
import { notifierMachine, notifierPolicy } from '../../machines/notifier/machine.js';
import { excerpt } from '../../machines/text.js';
import { titleCharsMax, type Waiting } from '../../machines/waiting.js';
import { checkShape } from '../../machines/shape.js';
import { defineKind } from '../define-kind.js';
import type { EffectsOf } from '../inference.js';

/** Notifiers as a kind, one for each destination: `notifierKind({ message: messageEffect({ links, settings }) })`. */
export function notifierKind(effects: EffectsOf<typeof notifierMachine>) {
  return defineKind({
    kind: 'notifier',
    version: 1,
    machine: notifierMachine,
    effects: { message: effects.message },
    policy: (_snapshot, event, authority) => notifierPolicy(event, authority),
    view: ({ value, context }) => notifierView(value as NotifierStatus, context),
    index: ({ context }) => [{ index: 'all', key: context.id }],
    waitingFor: ({ value, context }) => (value === 'stopped' ? [] : failing(context)),
    operatorEvents: { 'notifier.retry': {} },
    redacted: ['title', 'text'],
    keptInBundles:
      'id kind what key state waitingId type connector channel message messageId digest outcome on'.split(
        ' ',
      ),
    validateContext: checkShape({
      id: 'string',
      destination: 'object',
      noticed: 'number',
      notices: 'array',
      current: 'object?',
      sent: 'number',
      failures: 'number',
      failingSince: 'number?',
      detail: 'string?',
    }),
    supervision: { strategy: 'one_for_one', restart: 'permanent' },
  });
}

/** A destination that cannot be reached is itself something that a person must hear of. */
function failing({ id, failures, failingSince, detail }: NotifierContext): readonly Waiting[] {
  return failures < failuresMax || failingSince === null
    ? []
    : [
        {
          id: 'failing',
          what: 'notification',
          title: excerpt(`Notifications to ${id} fail: ${detail ?? ''}`, titleCharsMax),
          on: 'operator',
          since: failingSince,
          until: null,
        },
      ];
}

/** A passing fault is not shown. */
const failuresMax = 3;
