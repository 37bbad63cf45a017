import { homeMachine, homePolicy, noBackup, type BackupState } from '../../machines/home/machine.js';
import { checkShape } from '../../machines/shape.js';
import { excerpt } from '../../machines/text.js';
import { titleCharsMax, type Waiting } from '../../machines/waiting.js';
import { defineKind } from '../define-kind.js';

/** The home as a kind with one actor, `homeId`: facts about files, in the log and told to watchers. */
export function homeKind() {
  return defineKind({
    kind: 'home',
    version: 3,
    migrate: {
      /** Its chart says when, and no longer who; states and context are the same. */
      1: (old) => old,
      /** It notes how its backups stand. */
      2: (old) => ({ ...old, context: { ...old.context, backup: noBackup } }),
    },
    machine: homeMachine,
    policy: (_snapshot, event, authority) => homePolicy(event, authority),
    view: ({ context: { id, facts, lastAt, backup } }) => ({ id, facts, lastAt, backup }),
    waitingFor: ({ context }) => failing(context.backup),
    index: ({ context }) => [{ index: 'all', key: context.id }],
    keptInBundles: ['id', 'event'],
    validateContext: checkShape({ id: 'string', facts: 'number', backup: 'object' }),
  });
}

/** Backups that fail are seen before one is needed. */
const failing = ({ failing: fault }: BackupState): readonly Waiting[] =>
  fault === null
    ? []
    : [
        {
          id: 'backup',
          what: 'backup',
          title: excerpt(`Backups fail: ${fault.reason}`, titleCharsMax),
          on: 'operator',
          since: fault.since,
          until: null,
        },
      ];

export const homeId = 'home';
