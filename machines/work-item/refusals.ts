import { refuse, type Refusal } from '../refusals.js';
import { limits, type WorkItemContext } from './context.js';
import type { WorkStatus } from './edges.js';

/** What more than one rule about work items answers. */

export const notOwner = (context: WorkItemContext): Refusal =>
  refuse(
    'NOT_OWNER',
    { workItemId: context.id },
    `Work item ${context.id} is not yours: only its owner, its attempts, its creator and the managers ` +
      'above may do this.',
  );

export const personOnly = (context: WorkItemContext, from: WorkStatus, to: WorkStatus): Refusal =>
  refuse(
    'PERSON_REQUIRED',
    { workItemId: context.id, from, to },
    `Only a person may move ${context.id} from ${from} to ${to}. Ask for an approval, or comment.`,
  );

export const unknownEmployee = (name: string, suggestion: string | null): Refusal =>
  refuse(
    'UNKNOWN_EMPLOYEE',
    { employee: name, suggestion },
    `Unknown employee "${name}".${suggestion === null ? '' : ` Did you mean "${suggestion}"?`} GET ` +
      '/api/org lists them.',
  );

export const fitNote = (note: string | undefined): Refusal | undefined =>
  note !== undefined && note.length > limits.noteCharsMax
    ? refuse(
        'PAYLOAD_TOO_LARGE',
        { path: 'note', charsMax: limits.noteCharsMax },
        `note is longer than ${limits.noteCharsMax} characters.`,
      )
    : undefined;

export const blank = (text: unknown): boolean => typeof text !== 'string' || text.trim() === '';
