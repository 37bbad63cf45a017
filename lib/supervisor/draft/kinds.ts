import type { AnyMachineSnapshot } from 'xstate';
import type { Facts, Json, Kind } from '../../../actors/contracts.js';
import { nearest, reasonOf } from '../../../machines/text.js';
import { checkKind } from '../../../actors/define-kind.js';
import { assertAtOnce } from './codec.js';
import { xstate5 } from './driver.js';

/** The kinds of a supervisor by name, and the values that their `facts` see. */
export class Kinds {
  private readonly byName = new Map<string, Kind>();

  constructor(
    kinds: readonly Kind[],
    private values: Facts,
  ) {
    if (!Array.isArray(kinds as unknown))
      throw new TypeError('kinds must be a list of what defineKind answers');
    for (const kind of kinds) {
      if (this.byName.has(kind.kind)) throw new TypeError(`two kinds are named "${kind.kind}"`);
      checkKind(kind);
      this.byName.set(kind.kind, guarded(kind));
    }
    for (const kind of kinds) this.checkMajors(kind);
  }

  /** Machines of one major of XState are no actors of the other. */
  private checkMajors(kind: Kind): void {
    const { major } = kind.driver ?? xstate5;
    for (const [src, name] of Object.entries(kind.childKinds ?? {})) {
      const child = this.byName.get(name);
      if (child === undefined) continue;
      const { major: other } = child.driver ?? xstate5;
      if (other === major) continue;
      throw new TypeError(
        `the kind "${kind.kind}" is of XState ${major} and its child kind "${name}" (${src}) of XState ${other}: ` +
          'a child is of the major of its parent',
      );
    }
  }

  get all(): readonly Kind[] {
    return [...this.byName.values()];
  }

  find(name: string): Kind | undefined {
    return this.byName.get(name);
  }

  /** @throws TypeError for a kind that was not given, with the name that was probably meant */
  of(name: string): Kind {
    const kind = this.byName.get(name);
    if (kind !== undefined) return kind;
    const known = [...this.byName.keys()];
    const meant = typeof name === 'string' ? nearest(name, known) : undefined;
    throw new TypeError(
      `unknown kind "${name}"; ${meant === undefined ? `known: ${known.join(', ')}` : `did you mean "${meant}"?`}`,
    );
  }

  /** What an event for an actor (none yet at its creation) carries as `facts`. */
  facts(
    kind: Kind,
    actor: { readonly snapshot: AnyMachineSnapshot } | undefined,
    event: { readonly type: string; readonly [member: string]: unknown },
  ): Json | undefined {
    return kind.facts?.(actor?.snapshot, event, this.values);
  }

  setFact(name: string, value: unknown): void {
    this.values = { ...this.values, [name]: value };
  }
}

/** The functions of a kind that decide and describe. They are asked in the middle of a step, and answer at once. */
const rules = [
  'policy',
  'notInState',
  'validateInput',
  'validateContext',
  'facts',
  'view',
  'index',
  'totals',
  'waitingFor',
  'moves',
  'awaits',
] as const;

/** Of these, those that answer a list. Undefined is an empty one. */
const lists: ReadonlySet<string> = new Set(['index', 'totals', 'waitingFor', 'moves']);

type Rule = (...given: readonly unknown[]) => unknown;

/**
 * A kind as the kernel asks it: what one of its rules throws is told with the rule's name, since who reads it may have
 * asked for something else altogether (a page of views, a resumption), and no promise passes for an answer.
 */
function guarded(kind: Kind): Kind {
  const own: Record<string, Rule> = {};
  for (const rule of rules) if (kind[rule] !== undefined) own[rule] = asked(kind, rule);
  return { ...kind, ...own };
}

function asked(kind: Kind, rule: (typeof rules)[number]): Rule {
  return (...given) => {
    let answer: unknown;
    try {
      answer = (kind[rule] as Rule)(...given);
    } catch (cause) {
      // The meta of an actor, where the rule is about one
      const { id } = Object(given[1]) as { readonly id?: unknown };
      const of = typeof id === 'string' ? `${kind.kind} ${id}` : `the kind "${kind.kind}"`;
      throw new Error(`${rule} of ${of} threw: ${reasonOf(cause)}`, { cause });
    }
    if (answer instanceof Promise)
      assertAtOnce(answer, `${rule} of the kind "${kind.kind}" must answer at once, not with a promise`);
    if (!lists.has(rule) || Array.isArray(answer)) return answer;
    if (answer === undefined) return [];
    throw new TypeError(`${rule} of the kind "${kind.kind}" must answer a list`);
  };
}
