import type { AnyEventObject } from 'xstate';
import { holds, type Condition, type Patterns } from '../graph/conditions.js';
import type { Scope } from '../graph/paths.js';
import { asJson, publish, writeRow, sendToActor, type Json, type Output } from '../outputs.js';
import { isoTime } from '../sortable.js';
import { stepNested } from '../nested.js';
import {
  isActive,
  limits,
  statusOf,
  type Inherited,
  type NodeStatus,
  type RunContext,
  type RunError,
  type RunFacts,
  type StepOutcome,
  type StepRun,
} from './context.js';
import { edgesTaken, fateOf, isParked, loopDue, loopFrom, type Situation } from './frontier.js';
import { opensGate, parkedGates } from './gates.js';
import {
  graphOf,
  openKey,
  subjectOf,
  topologyOf,
  truthKey,
  type Known,
  type RunGraph,
  type RunNode,
  type Topology,
} from './graph.js';
import { requestOf, type Request } from './requests.js';
import type { StepContext, StepEnd, StepEvent } from './step-context.js';
import { nestedStep } from './step-machine.js';

/**
 * One event's work on a run: a draft of what changes, and what is asked of the world. It hands events to
 * steps, decides the edges out of those that end, and begins what the frontier has reached, all within one
 * commit. The machine hands the result to XState at the end.
 */
export class Advance implements Situation {
  readonly graph: RunGraph;
  readonly topology: Topology;
  readonly outputs: Output[] = [];
  readonly requests: Request[] = [];
  steps: Record<string, StepRun>;
  /** The context as it becomes, and the members of it that differ. */
  private readonly draft: { -readonly [Member in keyof RunContext]: RunContext[Member] };
  private readonly changes: Partial<RunContext> = {};
  private edgeStates: string[] | undefined;
  private ownSteps = false;
  /** Nodes that may have become ready. */
  private readonly candidates: number[] = [];
  /** Nodes that this commit may still pass. */
  private left: number = limits.inlinePerStep;
  private readonly status: 'running' | 'parked';
  private readonly moved: {
    readonly nodeId: string;
    readonly status: NodeStatus;
    readonly round: number;
    readonly attempt: number;
  }[] = [];

  constructor(
    context: RunContext,
    readonly at: number,
    readonly facts: RunFacts | null | undefined,
    private readonly patterns: Patterns | undefined,
  ) {
    this.draft = { ...context };
    this.graph = graphOf(context);
    this.topology = topologyOf(this.graph);
    this.steps = context.steps;
    this.status = isParked(context.steps) ? 'parked' : 'running';
  }

  get now(): RunContext {
    return this.draft;
  }

  /** The run has failed, or is cancelled: nothing begins any more. */
  get over(): boolean {
    return this.now.errors.length > 0 || this.now.cancellation !== null;
  }

  set(change: Partial<RunContext>): void {
    Object.assign(this.draft, change);
    Object.assign(this.changes, change);
  }

  edgeState = (edge: number): string => (this.edgeStates ?? this.now.edgeStates)[edge] ?? '?';

  get loops(): RunContext['loops'] {
    return this.now.loops;
  }

  holds = (edge: number | 'stop', when: readonly Condition[]): boolean =>
    when.every((condition, n) => {
      const { id, rounds } = this.now;
      if (subjectOf(condition, (nodeId) => this.topology.place.has(nodeId)) === 'run')
        return holds([condition], { ...nothing, run: { id, rounds, status: this.status } }, this.patterns);
      return this.now.truths[truthKey(edge, n)] ?? holds([condition], nothing, this.patterns);
    });

  /** Look at every node: at the start, and where an earlier commit left off. */
  checkAll(): void {
    for (let place = 0; place < this.graph.nodes.length; place += 1) this.candidates.push(place);
  }

  /** Begin everything that is ready, round after round, as far as one commit goes. */
  goOn(): this {
    if (this.now.continuing) this.checkAll();
    this.set({ continuing: false });
    while (!this.over) {
      const place = this.candidates.shift();
      if (place === undefined) {
        const loop = loopDue(this);
        if (loop === undefined) return this;
        this.beginRound(loop);
        continue;
      }
      const fate = fateOf(this, place);
      if (fate === undefined) continue;
      if (this.left === 0) {
        // a commit is bounded: the rest follows in the next
        this.set({ continuing: true });
        this.outputs.push(sendToActor({ kind: 'workflow-run', id: this.now.id }, { type: 'run.continue' }));
        return this;
      }
      this.left -= 1;
      this.step(place, { type: fate === 'ready' ? 'step.begin' : 'step.skip' });
    }
    return this;
  }

  /** One event for one step. A step that is not there yet is ready. */
  step(place: number, event: StepEvent | AnyEventObject): void {
    const node = this.graph.nodes[place] as RunNode;
    const before = this.steps[node.id] ?? this.fresh();
    const { state, ...step } = before;
    const context: StepContext = {
      run: this.now,
      node,
      place,
      at: this.at,
      facts: this.facts,
      step,
      receipts: this.now.receipts,
      costUsd: this.now.costUsd,
      end: null,
      outputs: [],
    };
    const next = stepNested(nestedStep, { state, context }, event);
    if (next === undefined) return;
    const { receipts, costUsd, end, outputs, step: kept } = next.context;
    if (receipts !== this.now.receipts || costUsd !== this.now.costUsd) this.set({ receipts, costUsd });
    const after = { state: next.state, ...kept } as StepRun;
    this.put(node.id, after);
    if (isMove(before, after, node)) this.recordMove(node, after);
    const first = this.outputs.length;
    this.outputs.push(...outputs);
    for (const action of next.actions) {
      const request = requestOf(action, node, place, { before, after });
      if (request !== undefined) this.requests.push(request);
    }
    if (end !== null) this.settle(node, place, end, first);
  }

  /** An effect has its result: XState forgets it, whether the step has left it or is long past it. */
  forget(call: string): void {
    if (!this.requests.some(({ type, id }) => type === 'stop' && id === call))
      this.requests.unshift({ type: 'stop', id: call });
  }

  private fresh(): StepRun {
    return { state: 'ready', round: this.now.rounds, attempt: 0, row: 0, at: this.at };
  }

  private put(id: string, step: StepRun | undefined): void {
    if (!this.ownSteps) this.steps = { ...this.steps };
    this.ownSteps = true;
    if (step === undefined) delete this.steps[id];
    else this.steps[id] = step;
  }

  private recordMove(node: RunNode, { state, round, attempt }: StepRun): void {
    this.moved.push({ nodeId: node.id, status: statusOf(node, state), round, attempt });
  }

  /** A step has come to its end: what is known of it, and which edges out of it are taken. */
  private settle(node: RunNode, place: number, end: StepEnd, firstOutput: number): void {
    const { status, attempt, outcome, follow, error } = end;
    if (end.settled) this.set({ settled: this.now.settled + 1 });
    if (follow !== null) {
      this.learn(node.id, status, attempt, outcome);
      const route = follow === 'dead' ? this.decide(place, []) : this.follow(node, place, follow);
      if (node.kind === 'switch' && follow !== 'dead') this.showRoute(route, firstOutput);
    }
    if (status === 'done' && outcome !== null) this.openGates();
    if (error !== undefined) this.fail(error);
  }

  /** The receipt of a switch says which edges it took. */
  private showRoute(route: readonly string[], firstOutput: number): void {
    const at = this.outputs.findIndex(
      (output, n) =>
        n >= firstOutput && output.type === 'kernel.write-row' && output.collection === 'receipts',
    );
    const output = this.outputs[at];
    if (output?.type === 'kernel.write-row')
      this.outputs[at] = { ...output, row: { ...(output.row as object), route } as Json };
  }

  private follow(node: RunNode, place: number, follow: 'edges' | 'error'): readonly string[] {
    if (follow === 'error') return this.decide(place, edgesTaken(this, place, 'error'));
    const { edge, left } = loopFrom(this, place);
    if (left !== undefined) this.set({ loopExit: left });
    if (edge === undefined) return this.decide(place, edgesTaken(this, place, undefined));
    const step = this.steps[node.id];
    if (step !== undefined) this.put(node.id, { ...step, loop: edge });
    return [];
  }

  private decide(place: number, taken: readonly number[]): readonly string[] {
    this.edgeStates ??= this.now.edgeStates.split('');
    for (const at of this.topology.out[place] ?? []) {
      this.edgeStates[at] = taken.includes(at) ? '+' : '-';
      this.candidates.push(this.graph.edges[at]?.to ?? 0);
    }
    return taken.map((at) => this.graph.edges[at]?.id ?? '');
  }

  private beginRound(loop: number): void {
    const again = this.topology.rounds.get(loop) ?? [];
    for (const place of again) this.put((this.graph.nodes[place] as RunNode).id, undefined);
    this.edgeStates ??= this.now.edgeStates.split('');
    for (const place of again)
      for (const at of this.topology.out[place] ?? [])
        if (this.steps[(this.graph.nodes[this.graph.edges[at]?.to ?? 0] as RunNode).id] === undefined)
          this.edgeStates[at] = '?';
    this.set({
      rounds: this.now.rounds + 1,
      loops: { ...this.now.loops, [loop]: (this.now.loops[loop] ?? 0) + 1 },
    });
    this.candidates.push(this.graph.edges[loop]?.to ?? 0);
  }

  /** What conditions and gates may know of a node that has settled. */
  private learn(nodeId: string, status: NodeStatus, attempt: number, outcome: StepOutcome | null): void {
    const about = this.topology.about.get(`steps.${nodeId}`);
    if (about !== undefined)
      // An outcome is JSON
      this.judge(about, { ...nothing, steps: { [nodeId]: { status, attempt, outcome: outcome as never } } });
    const opens =
      outcome === null ? [] : this.topology.selfOpening.filter(({ gate }) => opensGate(gate, outcome));
    if (opens.length > 0)
      this.set({
        truths: { ...this.now.truths, ...Object.fromEntries(opens.map(({ key }) => [key, true])) },
      });
  }

  judge(about: readonly Known[], scope: Scope): void {
    const truths = Object.fromEntries(
      about.map(({ key, condition }) => [key, holds([condition], scope, this.patterns)]),
    );
    this.set({ truths: { ...this.now.truths, ...truths } });
  }

  /** Gates whose artifact or flag has come meanwhile. */
  private openGates(): void {
    for (const [, gate] of parkedGates(this.steps)) {
      const place = this.topology.place.get(gate.nodeId);
      const key = openKey(gate.nodeId, { id: gate.gateId });
      if (place !== undefined && gate.kind !== 'approval' && this.now.truths[key] === true)
        this.step(place, { type: 'gate.open', detail: `${gate.kind} has come` });
    }
  }

  /**
   * What an earlier run has done already: it stands here as if this run had done it, and its edges are
   * decided again.
   */
  inherit({ nodeId, status, outcome }: Inherited): void {
    const place = this.topology.place.get(nodeId);
    const node = this.graph.nodes[place ?? -1];
    if (place === undefined || node === undefined) return;
    const row = this.now.receipts + 1;
    const at = isoTime(this.at);
    const state = status === 'failed' || status === 'skipped' ? status : 'succeeded';
    this.set({ receipts: row });
    this.put(nodeId, { state, round: 1, attempt: 1, row, at: this.at });
    const brought = outcome === null ? {} : { outcome: outcome as never }; // an outcome is JSON
    const receipt = { nodeId, status, attempt: 1, round: 1, at, settledAt: at, inherited: true, ...brought };
    this.outputs.push(writeRow('receipts', row, receipt));
    if (outcome !== null)
      this.outputs.push(writeRow('outcomes', nodeId, { nodeId, status, attempt: 1, round: 1, ...brought }));
    this.learn(nodeId, status, 1, outcome);
    const failed = node.kind === 'step' && node.rules.onError === 'error-edge' && status === 'failed';
    this.decide(place, status === 'skipped' ? [] : edgesTaken(this, place, failed ? 'error' : undefined));
  }

  fail(error: RunError): void {
    if (this.over) return;
    const { message } = error;
    this.set({ errors: [{ ...error, message: message.slice(0, limits.errorCharsMax) }] });
    this.leaveAll(message);
  }

  cancel(by: string, reason: string | null): void {
    this.set({ cancellation: { requestedAt: this.at, requestedBy: by, reason } });
    this.leaveAll(reason ?? `Cancelled by ${by}.`);
  }

  /** Whatever is still under way is stopped in the same commit; nothing of it can bring the run back. */
  private leaveAll(why: string): void {
    this.candidates.length = 0;
    for (const [id, step] of Object.entries(this.steps))
      if (isActive(step)) this.step(this.topology.place.get(id) ?? -1, { type: 'step.cancel', why });
  }

  /** What becomes of the context; the outputs then hold the frame that tells of it. */
  finish(): Partial<RunContext> {
    const { id: runId, workflowId, rounds, settled } = this.now;
    if (this.moved.length > 0) {
      const steps = asJson(this.moved.slice(-stepsPublishedMax));
      this.outputs.push(publish('run:step', { runId, workflowId, rounds, settled, steps }));
    }
    return {
      ...this.changes,
      ...(this.ownSteps ? { steps: this.steps } : {}),
      ...(this.edgeStates === undefined ? {} : { edgeStates: this.edgeStates.join('') }),
      updatedAt: this.at,
    };
  }
}

/** What watchers are told: another status, another attempt, another gate, or that its session is open. */
const isMove = (before: StepRun, after: StepRun, node: RunNode): boolean =>
  before.state === 'ready' ||
  statusOf(node, before.state) !== statusOf(node, after.state) ||
  before.attempt !== after.attempt ||
  before.gate?.place !== after.gate?.place ||
  (after.state === 'running.working' && before.state !== 'running.reading');

const stepsPublishedMax = 20;
const nothing: Scope = { steps: {}, run: { id: '', rounds: 1, status: 'running' }, trigger: {}, input: null };
