import { excerpt } from '../text.js';
import { titleCharsMax, type Waiting } from '../waiting.js';
import type { PollContext } from './context.js';
import type { PollState } from './policy.js';

/** A program that runs only after a person approved exactly it. */
export const pollWaiting = (
  state: PollState,
  { id, contract, contractHash, approval }: PollContext,
): readonly Waiting[] =>
  state !== 'pending' || approval.decision !== null
    ? []
    : [
        {
          id: contractHash, // anyone who decides names what was listed
          what: 'activation',
          title: excerpt(`${id}: ${contract.command.join(' ')}`, titleCharsMax),
          on: 'operator',
          since: approval.requestedAt,
          until: null,
        },
      ];
