import { builtInKinds } from '../../lib/cli/built-in-kinds.js';
import type { Census } from './quiet.js';

/** States in which no home can be left on purpose, with the reason. */
export const notAtRest: Readonly<Record<string, string>> = {
  'workflow status.begun': 'an actor is born through it, within one step',
  'workflow evidence.recording': 'as long as one small write',
  'poll active.firing': 'as long as one start of a run',
  'poll active.retrying': 'needs a gateway that refuses its own runs for a moment',
  'pairing checking': 'as long as one read of a small file',
  'pairing proven': 'as long as the making of its code',
  'pairing clearing': 'as long as one removal of a small file',
  'pairing-code redeeming': 'as long as one write of a small file',
  'held-decision deciding': 'as long as one request of the gateway to itself',
  'held-decision pausing': 'needs a gateway that refuses its own requests for a moment',
  'cron-fire begun': 'an actor is born through it, within one step',
  'cron-fire launching': 'as long as one opening of a session',
  'cron-fire recording': 'as long as one append to a file',
};

interface Node {
  readonly path: readonly string[];
  readonly states: Readonly<Record<string, Node>>;
}

/** `session idle`, `work-item work.backlog` …: every state without states inside it, of every kind of this build. */
export function statesOfBuild(): readonly string[] {
  const leaves = (node: Node): readonly string[] => {
    const inner = Object.values(node.states);
    return inner.length === 0 ? [node.path.join('.')] : inner.flatMap(leaves);
  };
  return builtInKinds().flatMap(({ kind, machine }) =>
    leaves(machine.root as unknown as Node).map((state) => `${kind} ${state}`),
  ); // XState's types of a node depend on its machine; its path and children do not
}

/** What a home that is left so lacks. */
export const lacking = (left: Census): readonly string[] =>
  statesOfBuild().filter((state) => (left[state] ?? 0) === 0 && notAtRest[state] === undefined);
