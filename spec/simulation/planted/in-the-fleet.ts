import type { Planted } from './planted.js';

/** Defects of what a gateway adds to the kernel; found in `--world fleet`. */
export const plantedInTheFleet: readonly Planted[] = [
  {
    name: 'sent-again',
    what: 'a message whose sending a crash cut off is sent again',
    world: 'fleet',
    edits: [
      {
        from: `reason: 'The gateway ended while this message was being sent. It may have been sent.',
        }),`,
        to: `reason: '',
        }),
        ...{ guarantee: 'at-least-once' },`,
      },
    ],
  },
  {
    name: 'deaf-to-repeats',
    what: 'a letter that the far side repeats is taken for another',
    world: 'fleet',
    edits: [
      { from: "key: message.id, hash: 'inbound'", to: "key: message.id + Math.random(), hash: 'inbound'" },
    ],
  },
  {
    name: 'fired-again',
    what: 'a run of a cron job opens a second session where its first answer was lost',
    world: 'fleet',
    edits: [
      {
        from: "{ scope: 'cron', key: fireId, hash: fireId }",
        to: "{ scope: 'cron', key: sessionId, hash: fireId }",
      },
    ],
  },
  {
    name: 'run-again',
    what: 'an instant that ran comes again after the clock was set back',
    world: 'fleet',
    edits: [
      {
        from: 'const { schedule, zone, doneUntil, active, ran: before = [],',
        to: 'const before = []; const { schedule, zone, doneUntil, active,',
      },
    ],
  },
  {
    name: 'dropped-behind-a-break',
    what: 'what waits to be sent when a link breaks is not sent after the next opening',
    world: 'fleet',
    edits: [
      {
        from: "entry: ['recovered', { type: 'publishStatus', params: { status: 'running' } }, 'raiseOpened'],",
        to: "entry: ['recovered', { type: 'publishStatus', params: { status: 'running' } }],",
      },
    ],
  },
  {
    name: 'clock-holds-notices',
    what: 'what waits is told only when a clock that was set back has caught up',
    world: 'fleet',
    edits: [
      { from: '(now < at ? now : dueAt)', to: 'dueAt' },
      { from: 'Math.min(afterMs, Math.max(0,', to: 'Math.max(0, Math.max(0,' },
    ],
  },
  {
    name: 'withdrawn-in-words',
    what: 'a decision that was withdrawn is carried out all the same',
    world: 'fleet',
    edits: [
      {
        from: "'decision.withdraw': { target: 'withdrawn', actions: 'publishWithdrawn' }",
        to: "'decision.withdraw': { actions: 'publishWithdrawn' }",
      },
    ],
  },
  {
    name: 'looked-again',
    what: 'each look at one flash starts a run of its own',
    world: 'fleet',
    edits: [{ from: 'runKey(name, fireRef ?? ref)', to: 'runKey(name, ref)' }],
  },
  {
    name: 'rung-twice',
    what: 'an event that is reported again counts as another',
    world: 'fleet',
    edits: [{ from: 'if (!run.replayed)', to: 'if (true)' }],
  },
];
