import { fromKernel, isPerson } from '../caller.js';
import { refuse, type Refusal } from '../refusals.js';
import type { PollContext, PollEvent } from './context.js';

export type PollState = 'pending' | 'active' | 'disabled' | 'deleted';

/** A program runs on the machine because a person said so: nobody else sets it up, allows it or takes it away. */
export function pollPolicy(state: PollState, context: PollContext, event: PollEvent): Refusal | undefined {
  if (fromKernel(event)) return undefined;
  if (!isPerson(event.by)) return refuse('PERSON_REQUIRED', { name: context.id }, 'Programs that look for events are a person\'s to set up, allow and take away.');
  switch (event.type) {
    case 'activation.decide': return mayDecide(state, context, event);
    case 'activation.escalate': return state === 'pending' ? undefined : undecidable(state, context, 'is not waiting for a decision');
    case 'binding.delete': return state === 'deleted' ? undecidable(state, context, 'is deleted') : undefined;
    case 'binding.revive': return state === 'deleted' ? undefined : undecidable(state, context, 'is there already');
    default: return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

function mayDecide(state: PollState, context: PollContext, { decision, contractHash }: Extract<PollEvent, { type: 'activation.decide' }>): Refusal | undefined {
  if (state === 'deleted') return undecidable(state, context, 'is deleted');
  if (decision === 'approve' && state === 'active') return undecidable(state, context, 'is approved already');
  if (decision === 'reject' && state === 'disabled') return undecidable(state, context, 'is rejected already');
  if (contractHash !== undefined && contractHash !== context.contractHash) {
    return refuse('CONFLICT', { name: context.id, activationContractHash: context.contractHash }, 'The contract is another one than you looked at. Look again.');
  }
  return undefined;
}

const undecidable = (state: PollState, { id }: PollContext, why: string): Refusal =>
  refuse('CONFLICT', { name: id, activation: state === 'pending' ? 'pending_approval' : state }, `The workflow trigger "${id}" ${why}.`);
