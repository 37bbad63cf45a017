import { fromKernel, isPerson, type Authority } from '../caller.js';
import { refuse, type Refusal } from '../refusals.js';
import type { PollContext, PollEvent } from './context.js';

export type PollState = 'pending' | 'active' | 'disabled' | 'deleted';

/**
 * A program runs on the machine because a person said so: nobody else sets it up, allows it or takes it away.
 */
export function pollPolicy(
  state: PollState,
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
      return mayDecide(state, context, event);
    case 'activation.escalate':
      return state === 'pending' ? undefined : undecidable(state, context, 'is not waiting for a decision');
    case 'binding.delete':
      return state === 'deleted' ? undecidable(state, context, 'is deleted') : undefined;
    case 'binding.revive':
      return state === 'deleted' ? undefined : undecidable(state, context, 'already exists');
    default:
      return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

function mayDecide(
  state: PollState,
  context: PollContext,
  { decision, contractHash }: Extract<PollEvent, { type: 'activation.decide' }>,
): Refusal | undefined {
  if (state === 'deleted') return undecidable(state, context, 'is deleted');
  if (decision === 'approve' && state === 'active') return undecidable(state, context, 'is already approved');
  if (decision === 'reject' && state === 'disabled')
    return undecidable(state, context, 'is already rejected');
  if (contractHash !== undefined && contractHash !== context.contractHash) {
    return refuse(
      'CONFLICT',
      { name: context.id, activationContractHash: context.contractHash },
      'The contract has changed since you read it. Read it again.',
    );
  }
  return undefined;
}

const undecidable = (state: PollState, { id }: PollContext, why: string): Refusal =>
  refuse(
    'CONFLICT',
    { name: id, activation: state === 'pending' ? 'pending_approval' : state },
    `The workflow trigger "${id}" ${why}.`,
  );
