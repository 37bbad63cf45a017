import { scheduleFault } from '../cron-time.js';
import type { Trigger } from './definition.js';
import {
  maybeTextAt,
  note,
  recordAt,
  textAt,
  timeAt,
  within,
  wordAt,
  type Place,
  type Raw,
  type Reading,
} from './reader.js';

/** What starts a workflow, as written → as it runs. */
export function readTrigger(reading: Reading, value: unknown, place: Place): Trigger {
  if (value === undefined || value === null || value === 'manual') return { kind: 'manual' };
  const raw = recordAt(reading, value, place, [
    'kind',
    'cron',
    'timezone',
    'until',
    'toStatus',
    'fromStatus',
    'filter',
  ]);
  switch (
    wordAt(
      reading,
      raw,
      'kind',
      place,
      ['manual', 'schedule', 'todo-status-change'],
      'manual',
      'bad-trigger-kind',
    )
  ) {
    case 'manual':
      return { kind: 'manual' };
    case 'schedule':
      return readSchedule(reading, raw, place);
    case 'todo-status-change': {
      const filter =
        raw['filter'] === undefined || raw['filter'] === null
          ? {}
          : recordAt(reading, raw['filter'], within(place, 'filter'), ['source', 'department', 'assignee']);
      const word = (from: Raw, member: string): string | null =>
        maybeTextAt(reading, from, member, place, { charsMax: 200 });
      const statuses = [
        'backlog',
        'assigned',
        'executing',
        'in_review',
        'blocked',
        'escalated',
        'done',
        'cancelled',
      ];
      if (raw['toStatus'] === undefined)
        note(
          reading,
          'trigger-missing-field',
          'a todo-status-change needs toStatus',
          within(place, 'toStatus'),
        );
      return {
        kind: 'todo-status-change',
        toStatus: wordAt(reading, raw, 'toStatus', place, statuses, 'done'),
        fromStatus:
          raw['fromStatus'] == null ? null : wordAt(reading, raw, 'fromStatus', place, statuses, 'executing'),
        filter: {
          source: word(filter, 'source'),
          department: word(filter, 'department'),
          assignee: word(filter, 'assignee'),
        },
      };
    }
  }
}

function readSchedule(reading: Reading, raw: Raw, place: Place): Trigger {
  const cron = textAt(reading, raw, 'cron', place, { charsMax: 200, code: 'bad-schedule' });
  const timezone = textAt(reading, raw, 'timezone', place, {
    charsMax: 64,
    standard: 'UTC',
    code: 'bad-schedule',
  });
  const fault = cron === '' ? undefined : scheduleFault(cron, timezone); // its absence was noted above
  if (fault !== undefined)
    note(
      reading,
      'bad-schedule',
      fault.message,
      within(place, fault.path === 'schedule' ? 'cron' : 'timezone'),
    );
  return { kind: 'schedule', cron, timezone, until: timeAt(reading, raw, 'until', place, 'bad-schedule') };
}
