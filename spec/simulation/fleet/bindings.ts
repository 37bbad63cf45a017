import { pollKind } from '../../../actors/poll/kind.js';
import { triggerKind } from '../../../actors/trigger/kind.js';
import type { App } from '../../../lib/commands/app.js';
import { runKey } from '../../../lib/commands/workflows/bindings.js';
import { firePoll } from '../../../lib/commands/workflows/polls.js';
import { createTrigger, receiveEvent } from '../../../lib/commands/workflows/triggers.js';
import { createWorkflow } from '../../../lib/commands/workflows/write-workflow.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { operator } from '../../../machines/caller.js';
import type { CheckInput, FireInput } from '../../../machines/poll/machine.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import { must } from '../model.js';
import type { Outside } from './agent.js';
import type { Shown } from './promises.js';

/**
 * What happens outside and starts runs: events that someone reports, each again until it is answered (a webhook), and
 * flashes in the sky, which a program looks for every minute (a poll). A flash is seen until the next one.
 */
export const bell = 'bell';
const sky = 'sky';
const boundWorkflow = 'bound';

export class Sky {
  /** Flashes that were reported by a look that came to its end. */
  readonly seen = new Set<string>();
  private looks = 0;

  constructor(
    private readonly outside: () => Outside,
    /** Real time, ms. */
    private readonly now: () => number,
  ) {}

  get flash(): string {
    return `flash${Math.floor(this.now() / flashEveryMs)}`;
  }

  /** What the program answers: mostly the flash, sometimes with an error, sometimes it throws. */
  async look(): Promise<{ outcome: 'fire'; fireRef: string } | { outcome: 'nonzero'; reason: string }> {
    const { alive, wait } = this.outside();
    const n = (this.looks += 1);
    await wait(n % 5 === 0 ? 4_000 : 100);
    if (!alive()) return new Promise(() => undefined);
    if (n % 7 === 3) return { outcome: 'nonzero', reason: 'it is foggy' };
    if (n % 11 === 5) throw new Error('the lookout fell asleep');
    this.seen.add(this.flash);
    return { outcome: 'fire', fireRef: this.flash };
  }
}

const flashEveryMs = 600_000;

export const bindingKinds = (app: (supervisor: Supervisor) => App, outside: Sky) => [
  triggerKind(),
  pollKind({
    check: {
      guarantee: 'at-most-once',
      run: () => outside.look(),
      recover: async () => ({ outcome: 'error' }),
    },
    fire: {
      guarantee: 'at-least-once',
      run: (input: FireInput, { supervisor }) => firePoll(app(supervisor as unknown as Supervisor), input),
    },
  }),
];

/** A workflow of one step, an event and an approved program that start it. What was done in an earlier life stays. */
export async function bindOutside(app: App): Promise<void> {
  const request = { app, caller: operator };
  const definition = { title: 'Bound', id: boundWorkflow, name: boundWorkflow, nodes, edges, concurrency: 3 };
  allowed(await createWorkflow(request, { definition }));
  allowed(await createTrigger(request, { name: bell, event: 'rain', targetWorkflowId: boundWorkflow }));
  // As `createPoll`, which reads the program's file
  const input = { event: 'flash', targetWorkflowId: boundWorkflow, filter: [], contract, contractHash: 'c' };
  allowed(await app.supervisor.spawn('poll', { id: sky, input, by: operator }));
  if ((await app.supervisor.get('poll', sky))?.value !== 'pending') return;
  allowed(
    await app.supervisor.ask(
      'poll',
      sky,
      { type: 'activation.decide', decision: 'approve' },
      { by: operator },
    ),
  );
}

function allowed(answer: unknown): void {
  must(!isRefusal(answer) || answer.code === 'EXISTS', `it was refused: ${(answer as Refusal).message}`);
}

/** Undefined: nothing is bound to it yet. The one who is slow to hear the answer reports it once more. */
export async function happen(
  app: App,
  id: string,
  isRepeated: boolean,
): Promise<{ body: { id: string } } | Refusal | undefined> {
  const event = { event: 'rain', payload: { say: id }, fireRef: id };
  const first = await receiveEvent(app, event, undefined);
  const outcomes = isRepeated && !isRefusal(first) ? await receiveEvent(app, event, undefined) : first;
  if (isRefusal(outcomes)) return outcomes;
  return outcomes.some(({ outcome }) => outcome === 'started') ? { body: { id } } : undefined;
}

/** One run for each flash that was seen, and none for another; what a binding says of its runs is true. */
export async function checkBindings(app: App, { runs }: Shown, { seen }: Sky): Promise<void> {
  const known = new Set([...seen].map((flash) => runKey(sky, flash)));
  const keys = runs.map(({ view }) => view.idempotencyKey ?? '').filter((key) => key.startsWith('event:'));
  const ofSky = keys.filter((key) => key.startsWith(`event:${sky}:`));
  must(new Set(keys).size === keys.length, 'an occurrence has two runs');
  for (const key of ofSky) must(known.has(key), `the run ${key} is of a flash that no one saw`);
  const poll = (await app.supervisor.get('poll', sky))?.view;
  const ran = poll?.lastRunId ?? null;
  must(
    ran === null || runs.some(({ id }) => id === ran),
    `the poll names the run ${ran}, which is not there`,
  );
  const rung = (await app.supervisor.get('trigger', bell))?.view.fired ?? 0;
  const byBell = keys.length - ofSky.length;
  must(rung <= byBell, `the bell has started ${byBell} runs, and says ${rung}`);
}

/** The flash of now is seen sooner or later, whatever went wrong before. */
export async function missedFlash({ supervisor }: App, { flash }: Sky): Promise<string[]> {
  const poll = (await supervisor.get('poll', sky))?.view;
  if (poll?.activation !== 'active') return [];
  const last = poll.lastRunId === null ? undefined : await supervisor.get('workflow-run', poll.lastRunId);
  return last?.view.idempotencyKey === runKey(sky, flash) ? [] : [`the run of ${flash}`];
}

const contract: CheckInput['contract'] = {
  command: ['/usr/bin/lookout'],
  intervalSeconds: 60,
  cwdPolicy: 'own-folder',
  envPolicy: 'basics',
  timeoutMs: 10_000,
  stdoutMaxBytes: 1_000,
  stderrMaxBytes: 1_000,
  executableArtifacts: [],
};
const nodes = [
  { id: 'start', type: 'trigger', trigger: { kind: 'manual' } },
  { id: 'act', type: 'step', actor: { kind: 'noop' } },
];
const edges = [{ id: 'start-act', from: 'start', to: 'act' }];
