import { fromKernel, isPerson, type Authority } from '../caller.js';
import { refuse, type Refusal } from '../refusals.js';
import type { PollContext, PollEvent } from './context.js';

export type PollState = 'pending' | 'active' | 'disabled' | 'deleted';

/**
 * A program runs on the machine because a person said so: only people set it up, allow it or remove it.
 */
export function pollPolicy(
  context: PollContext,
  event: PollEvent,
  { onBehalfOf }: Authority,
): Refusal | undefined {
  if (fromKernel(event)) return undefined;
  if (!isPerson(onBehalfOf))
    return refuse(
      'PERSON_REQUIRED',
      { name: context.id },
      'Only a person may create, approve or remove poll triggers.',
    );
  switch (event.type) {
    case 'activation.decide':
      return staleness(context, event.contractHash);
    case 'activation.escalate':
    case 'binding.delete':
    case 'binding.revive':
      return undefined;
    default:
      return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

const staleness = ({ id, contractHash }: PollContext, read: string | undefined): Refusal | undefined =>
  read === undefined || read === contractHash
    ? undefined
    : refuse(
        'CONFLICT',
        { name: id, activationContractHash: contractHash },
        'The contract has changed since you read it. Read it again.',
      );

export function pollNotInState(state: PollState, { id }: PollContext, event: PollEvent): Refusal | undefined {
  const why = reason(state, event);
  return why === undefined
    ? undefined
    : refuse(
        'CONFLICT',
        { name: id, activation: state === 'pending' ? 'pending_approval' : state },
        `The workflow trigger "${id}" ${why}.`,
      );
}

function reason(state: PollState, event: PollEvent): string | undefined {
  switch (event.type) {
    case 'activation.decide':
      if (state === 'deleted') return 'is deleted';
      return event.decision === 'approve' ? 'is already approved' : 'is already rejected';
    case 'activation.escalate':
      return 'is not awaiting a decision';
    case 'binding.delete':
      return 'is deleted';
    case 'binding.revive':
      return 'already exists';
    default:
      return undefined;
  }
}
