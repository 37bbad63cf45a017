import type { GateRules } from './graph.js';
import type { ParkedGate, StepOutcome, StepRun } from './step-run.js';

/** The gates at which a run is parked: those of its parked steps, by their keys. */

/** `<node>/<gate>@<round>` */
export const gateKeyOf = (nodeId: string, gateId: string, round: number): string =>
  `${nodeId}/${gateId}@${round}`;

export const parkedGates = (
  steps: Readonly<Record<string, StepRun>>,
): readonly (readonly [key: string, gate: ParkedGate])[] =>
  Object.values(steps).flatMap(({ state, gate, round }) =>
    state === 'parked' && gate !== undefined
      ? [[gateKeyOf(gate.nodeId, gate.gateId, round), gate] as const]
      : [],
  );

/** The gate that an event names; without a name the one that has waited longest. */
export function gateNamed(
  steps: Readonly<Record<string, StepRun>>,
  key: string | undefined,
): readonly [key: string, gate: ParkedGate] | undefined {
  const gates = parkedGates(steps);
  if (key !== undefined) return gates.find(([own]) => own === key);
  return [...gates].sort(([, one], [, other]) => one.at - other.at)[0];
}

/** Has what the gate waits for come with this outcome? An approval waits for someone's word. */
export function opensGate(
  { kind, wants }: Pick<GateRules, 'kind' | 'wants'>,
  { artifacts, fields }: StepOutcome,
): boolean {
  if (kind === 'approval' || wants === null) return false;
  if (kind === 'flag') return fields !== undefined && Object.hasOwn(fields, wants) && fields[wants] === true;
  return artifacts?.some((artifact) => matchesGlob(wants, artifact)) === true;
}

/**
 * `*` stands for anything but a slash, `**` for anything, `?` for one character. Time: the product of the
 * lengths, at most.
 */
export function matchesGlob(glob: string, text: string): boolean {
  const parts = glob.split(/(\*\*|\*|\?)/).filter((part) => part !== '');
  let ends = new Set([0]);
  for (const part of parts) {
    const next = new Set<number>();
    for (const end of ends) {
      if (part === '?') {
        if (end < text.length && text[end] !== '/') next.add(end + 1);
      } else if (part === '*' || part === '**') {
        for (let at = end; at <= text.length && !next.has(at); at += 1) {
          next.add(at);
          if (part === '*' && text[at] === '/') break;
        }
      } else if (text.startsWith(part, end)) next.add(end + part.length);
    }
    ends = next;
  }
  return ends.has(text.length);
}
