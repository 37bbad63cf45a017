import { setup, type DoneActorEvent } from 'xstate';
import { fromKernel, isPerson, type Authority, type Caller } from '../caller.js';
import { publish, effect, decidesFor, type Output, type Stamp, type Decision } from '../outputs.js';
import { refuse, type Refusal } from '../refusals.js';
import { checkShape } from '../shape.js';

/**
 * A held decision: what a person decided, kept back for a few seconds in which it can be withdrawn.
 *
 * **What lives.** What was decided, about which thing that waits, and by whom. It is committed before its request is
 * answered, so a browser that goes away loses nothing; time that passed while the gateway was down counts.
 *
 * **What can happen.** A person withdraws it and nothing was decided. Or its time ends and it is carried out by the
 * route that takes such a decision, as the person who made it: that route takes it or refuses it. A gateway that is
 * starting or cannot write is asked again.
 *
 * **What can never happen.** A withdrawal after the carrying out has begun. Two outcomes. A decision about something
 * else than was read: what waited is compared again at the end. An agent that decides.
 */
export interface HeldDecisionInput extends HeldDecisionOf {
  /** Id of the actor. */
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The person who decided. */
  readonly by: Caller;
  readonly holdMs: number;
}

/** What was decided about what. */
export interface HeldDecisionOf {
  /** The actor that waits, and what of it: as `GET /api/attention` names them. */
  readonly kind: string;
  readonly actorId: string;
  readonly waitingId: string;
  /** What it waits for, and what it belongs to where its route names that too. */
  readonly what: string;
  readonly within: string | null;
  readonly choice: HeldChoice;
  readonly words: HeldWords;
  /** Hash of the thing as it waited when it was decided. */
  readonly digest: string;
}

export type HeldChoice = (typeof heldChoices)[number];
export const heldChoices = ['approve', 'reject', 'escalate', 'again'] as const;

/** What goes with it. */
export type HeldWords = {
  readonly note: string | null;
  /** Dollars that a budget gets. */
  readonly usd: number | null;
  /** Of a tool: keep its rule, or this one. */
  readonly always: boolean;
  readonly rule: string | null;
};

/** What is remembered of one. */
export interface HeldDecisionContext extends HeldDecisionOf {
  readonly id: string;
  readonly by: Caller;
  readonly holdMs: number;
  /** Epoch milliseconds. */
  readonly decidedAt: number;
  /** When it is carried out. */
  readonly until: number;
  readonly tries: number;
  /** Why it was refused. */
  readonly reason: string | null;
}

/** What it takes. */
export type HeldDecisionEvent = Stamp & { readonly type: 'decision.withdraw' };

export type HeldDecisionStatus = 'held' | 'deciding' | 'pausing' | 'decided' | 'refused' | 'withdrawn';

/** What the effect is given: all of it. */
export type CarryOutInput = Omit<HeldDecisionContext, 'reason' | 'tries'>;
/** What came of it; null: it is decided. A sentence: why not. */
export interface CarriedOut {
  readonly refusal: string | null;
}

export const heldLimits = { holdMsMin: 1_000, holdMsMax: 60_000, noteCharsMax: 10_000, reasonCharsMax: 500 };

/**
 * Who may do what with a held decision. Answers the refusal, or undefined for yes; never throws.
 * @example const refused = heldDecisionPolicy(event, authorityOf(event));
 */
export function heldDecisionPolicy(event: HeldDecisionEvent, { onBehalfOf }: Authority): Refusal | undefined {
  if (fromKernel(event)) return undefined;
  if (event.type !== 'decision.withdraw')
    return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  return isPerson(onBehalfOf) ? undefined : refuse('PERSON_REQUIRED');
}

/** It is past withdrawing. */
export const heldDecisionNotInState = ({ value }: { readonly value: unknown }): Refusal =>
  refuse('CONFLICT', { status: String(value) }, outcomes[String(value)] ?? outcomes['deciding']);

const outcomes: Readonly<Record<string, string>> = {
  deciding: 'The time for withdrawing it is over: it is being carried out.',
  decided: 'The time for withdrawing it is over: it was carried out.',
  refused: 'It was not carried out; there is nothing to withdraw.',
  withdrawn: 'It was withdrawn already.',
};

/**
 * May a held decision be made of this input? Answers the refusal, or undefined for yes; never throws.
 * @example const validateInput = (input: HeldDecisionInput) => admitHeldDecision(input);
 */
export function admitHeldDecision(input: HeldDecisionInput): Refusal | undefined {
  const fits =
    checkShape({
      kind: 'string',
      actorId: 'string',
      waitingId: 'string',
      what: 'string',
      within: 'string?',
      choice: 'string',
      words: 'object',
      digest: 'string',
      holdMs: 'number',
    })(input) === undefined &&
    heldChoices.includes(input.choice) &&
    input.holdMs >= heldLimits.holdMsMin &&
    input.holdMs <= heldLimits.holdMsMax &&
    (input.words.note?.length ?? 0) <= heldLimits.noteCharsMax;
  if (!fits) return refuse('BAD_REQUEST', {}, 'Invalid held decision.');
  return isPerson(input.by) ? undefined : refuse('PERSON_REQUIRED');
}

const decides = decidesFor<HeldDecisionContext, HeldDecisionEvent>();

/**
 * The statechart of a held decision.
 * @example const chart = heldDecisionMachine.root.states;
 */
export const heldDecisionMachine = setup({
  types: {} as {
    context: HeldDecisionContext;
    events: HeldDecisionEvent;
    input: HeldDecisionInput;
    emitted: Output;
  },
  actors: {
    /** At least once: the route that is asked knows the decision by its id. */
    decide: effect<CarriedOut, CarryOutInput>(),
  },
  delays: {
    hold: ({ context }) => context.holdMs,
    /** 1 s, 2 s, 4 s … 1 min. */
    backoff: ({ context }) => Math.min(60_000, 1_000 * 2 ** Math.max(0, context.tries - 1)),
  },
  guards: {
    isTaken: (_, { refusal }: CarriedOut) => refusal === null,
    triedEnough: ({ context }) => context.tries + 1 >= triesMax,
  },
  actions: {
    publishHeld: decides((context) => ({ outputs: [frame('decision:held', context)] })),
    publishWithdrawn: decides((context) => ({ outputs: [frame('decision:withdrawn', context)] })),
    publishDecided: decides((context) => ({ outputs: [frame('decision:carried-out', context)] })),
    countTry: decides((context) => ({ set: { tries: context.tries + 1 } })),
    refuse: decides((context, _event, { refusal }: CarriedOut): Decision<HeldDecisionContext> => {
      const reason = (refusal ?? 'It could not be carried out.').slice(0, heldLimits.reasonCharsMax);
      return { set: { reason }, outputs: [frame('decision:refused', { ...context, reason })] };
    }),
  },
}).createMachine({
  id: 'held-decision',
  context: ({ input: { at, ...input } }) => ({
    ...input,
    decidedAt: at,
    until: at + input.holdMs,
    tries: 0,
    reason: null,
  }),
  initial: 'held',
  states: {
    held: {
      entry: 'publishHeld',
      after: { hold: 'deciding' },
      on: { 'decision.withdraw': { target: 'withdrawn', actions: 'publishWithdrawn' } },
    },
    deciding: {
      invoke: {
        id: 'decide',
        src: 'decide',
        input: ({ context: { reason: _reason, tries: _tries, ...made } }) => made,
        onDone: [
          {
            guard: { type: 'isTaken', params: outcomeOf },
            target: 'decided',
            actions: 'publishDecided',
          },
          { target: 'refused', actions: { type: 'refuse', params: outcomeOf } },
        ],
        onError: [
          { guard: 'triedEnough', target: 'refused', actions: { type: 'refuse', params: { refusal: null } } },
          { target: 'pausing', actions: 'countTry' },
        ],
      },
    },
    pausing: { after: { backoff: 'deciding' } },
    decided: { type: 'final' },
    refused: { type: 'final' },
    withdrawn: { type: 'final' },
  },
});

/** A quarter of an hour, about. */
const triesMax = 20;

function outcomeOf({ event }: { event: DoneActorEvent<CarriedOut> }): CarriedOut {
  return event.output;
}

const frame = (name: string, { id, kind, actorId, waitingId, choice, until, reason }: HeldDecisionContext) =>
  publish(name, { decisionId: id, kind, id: actorId, waitingId, decision: choice, until, reason });
