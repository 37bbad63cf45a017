import { holds, type Condition, type Patterns } from '../graph/conditions.js';
import type { Scope } from '../graph/paths.js';
import { announce, keep, tell, type ActorKey, type Json, type Tell, type Wish } from '../ground.js';
import { isoTime } from '../iso-time.js';
import { limits, type Attempted, type NodeStatus, type RunContext, type RunFacts, type RunStatus, type Spot, type StepCall, type StepOutcome } from './context.js';
import { graphOf, subjectOf, truthKey, waysOf, type Known, type RunGraph, type RunNode, type Ways } from './graph.js';

/**
 * One event's work on a run: a scratch copy of what moves, and the list of what is asked of the world. Everything in
 * this folder that advances a run writes here; the machine hands the result to XState at the end.
 */
export class Pass {
  readonly graph: RunGraph;
  readonly ways: Ways;
  readonly wishes: Wish[] = [];
  /** Effects to start, to leave; timers to set, to take away. */
  readonly starts: { readonly src: 'workflow-step' | 'workflow-act'; readonly id: string; readonly input: StepCall }[] = [];
  readonly stops: string[] = [];
  readonly timers: { readonly id: string; readonly event: { readonly type: string } & Record<string, Json>; readonly delayMs: number }[] = [];
  readonly cancels: string[] = [];
  /** Nodes that may have become ready. */
  readonly candidates: number[] = [];
  /** Nodes whose gate has opened, and the place of the gate after it. */
  readonly opened: { readonly place: number; readonly from: number }[] = [];
  /** Nodes that this commit may still pass. */
  left: number = limits.inlinePerStep;
  now: RunContext;
  spots: Record<string, Spot>;
  private paths: string[] | undefined;
  private ownSpots = false;
  private readonly moved: { readonly nodeId: string; readonly status: NodeStatus; readonly round: number; readonly attempt: number }[] = [];

  constructor(context: RunContext, readonly at: number, readonly facts: RunFacts | null | undefined, private readonly patterns: Patterns | undefined) {
    this.now = context;
    this.graph = graphOf(context);
    this.ways = waysOf(this.graph);
    this.spots = context.spots;
  }

  get over(): boolean { return isOver(this.now.status); }
  get nodes(): readonly RunNode[] { return this.graph.nodes; }
  /** Something is under way that will bring an event. */
  get active(): boolean { return Object.values(this.spots).some(isActive); }

  set(change: Partial<RunContext>): void { this.now = { ...this.now, ...change }; }

  nextRow(): number {
    this.set({ receipts: this.now.receipts + 1 });
    return this.now.receipts;
  }

  spot(id: string, spot: Spot | undefined): void {
    if (!this.ownSpots) this.spots = { ...this.spots };
    this.ownSpots = true;
    if (spot === undefined) delete this.spots[id];
    else this.spots[id] = spot;
  }

  /** The same, and watchers are told. */
  move(id: string, spot: Spot): void {
    this.spot(id, spot);
    this.moved.push({ nodeId: id, status: spot.status, round: spot.round, attempt: spot.attempt });
  }

  path(edge: number): string { return (this.paths ?? this.now.paths)[edge] ?? '?'; }

  mark(edge: number, sign: '?' | '+' | '-'): void {
    this.paths ??= [...this.now.paths];
    this.paths[edge] = sign;
  }

  /** The attempt that an event speaks of; undefined where the run has gone on since. */
  present({ nodeId, round, attempt }: Attempted): { readonly place: number; readonly node: RunNode; readonly spot: Spot } | undefined {
    const spot = this.spots[nodeId];
    const place = this.ways.place.get(nodeId);
    if (this.over || spot === undefined || place === undefined || spot.round !== round || spot.attempt !== attempt || !isActive(spot)) return undefined;
    return { place, node: this.nodes[place] as RunNode, spot };
  }

  /** What conditions and gates may know of a node that has settled. */
  learn(nodeId: string, status: NodeStatus, attempt: number, outcome: StepOutcome | null): void {
    const about = this.ways.about.get(`steps.${nodeId}`);
    if (about !== undefined) this.judge(about, { ...nothing, steps: { [nodeId]: { status, attempt, outcome: outcome as never } } }); // an outcome is JSON
    const opens = outcome === null ? [] : this.ways.selfOpening.filter(({ gate }) => opensGate(gate.kind, gate.wants, outcome));
    if (opens.length > 0) this.set({ truths: { ...this.now.truths, ...Object.fromEntries(opens.map(({ key }) => [key, true])) } });
  }

  judge(about: readonly Known[], scope: Scope): void {
    const truths = Object.fromEntries(about.map(({ key, condition }) => [key, holds([condition], scope, this.patterns)]));
    this.set({ truths: { ...this.now.truths, ...truths } });
  }

  /** Do all conditions of an edge (or those that stop loops) hold, as far as anything is known? */
  holds(edge: number | 'stop', when: readonly Condition[]): boolean {
    return when.every((condition, n) => {
      const { id, rounds, status } = this.now;
      if (subjectOf(condition, (nodeId) => this.ways.place.has(nodeId)) === 'run') return holds([condition], { ...nothing, run: { id, rounds, status } }, this.patterns);
      return this.now.truths[truthKey(edge, n)] ?? holds([condition], nothing, this.patterns);
    });
  }

  receipt(row: number, receipt: Readonly<Record<string, Json | undefined>>): void {
    this.wishes.push(keep('receipts', row, receipt));
  }

  tell(to: ActorKey, event: Tell['event']): void {
    this.wishes.push(tell(to, event));
  }

  /** The context that this pass leads to; the wishes then hold the frames that tell of it. */
  finish(before: RunContext): RunContext {
    const { status } = this.now;
    const settled = this.over ? status : Object.keys(this.now.gates).length > 0 ? 'parked' : 'running';
    const after: RunContext = { ...this.now, status: settled, spots: this.spots, updatedAt: this.at, ...(this.paths === undefined ? {} : { paths: this.paths.join('') }) };
    const { id: runId, workflowId, rounds } = after;
    if (this.moved.length > 0) this.wishes.push(announce('run:step', { runId, workflowId, rounds, settled: after.settled, steps: this.moved.slice(-stepsToldMax) as unknown as Json })); // plain members only
    if (settled !== before.status) {
      this.wishes.push(announce(before.status === 'parked' && settled === 'running' ? 'run:resumed' : `run:${settled}`, { runId, workflowId, status: settled, rounds }));
      this.wishes.push(announce('company:changed', { entity: 'workflow-run', action: settled, id: runId, workflowId, runId }));
    }
    return after;
  }
}

const stepsToldMax = 20;
const nothing: Scope = { steps: {}, run: { id: '', rounds: 1, status: 'running' }, trigger: {}, input: null };

export const isOver = (status: RunStatus): boolean => status !== 'running' && status !== 'parked';
export const isActive = ({ status }: Spot): boolean => status === 'running' || status === 'waiting' || status === 'parked';
/** The name of what works on one attempt, among a run's effects. */
export const callOf = (place: number, { round, attempt }: Spot): string => `step:${place}:${round}:${attempt}`;
export const timeText = isoTime;

function opensGate(kind: string, wants: string | null, { artifacts, fields }: StepOutcome): boolean {
  if (wants === null) return false;
  if (kind === 'flag') return fields !== undefined && Object.hasOwn(fields, wants) && fields[wants] === true;
  return artifacts?.some((artifact) => matchesGlob(wants, artifact)) === true;
}

/** `*` stands for anything but a slash, `**` for anything, `?` for one character. Time: the product of the lengths, at most. */
export function matchesGlob(glob: string, text: string): boolean {
  const parts = glob.split(/(\*\*|\*|\?)/).filter((part) => part !== '');
  let ends = new Set([0]);
  for (const part of parts) {
    const next = new Set<number>();
    for (const end of ends) {
      if (part === '?') { if (end < text.length && text[end] !== '/') next.add(end + 1); } else if (part === '*' || part === '**') {
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
