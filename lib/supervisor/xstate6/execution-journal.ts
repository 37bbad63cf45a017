import { isRefusal } from '../../../machines/refusals.js';
import type { Supervisor } from '../contract.js';
import type { Entry, ExecutedLogic, ExecutionEvent, Outcome } from './execution-kind.js';

/** What happened to an execution, as opposed to what it did. */
export type Occurrence = Exclude<Entry, { readonly type: 'noted' }>;

/** The rows of an execution: read from the first one on, then as they are committed. */
export class ExecutionJournal {
  private readonly outcomes = new Map<string, Outcome>();
  private readonly ended = new Set<string>();
  private readonly ahead: Occurrence[] = [];
  private last = 0;
  private failure: { readonly error: unknown } | undefined;
  private wake = (): void => undefined;
  private behind = (): void => undefined;
  /** When all that was there at the opening is applied: from then on work is begun. */
  readonly caughtUp = new Promise<void>((resolve) => (this.behind = resolve));

  private constructor(
    private readonly supervisor: Supervisor,
    private readonly id: string,
  ) {}

  /** Creates the actor where there is none; rejects where it is of another machine, or of another version. */
  static async open(
    supervisor: Supervisor,
    id: string,
    { id: machine, version }: { readonly id: string; readonly version?: string | undefined },
    signal: AbortSignal | undefined,
  ): Promise<ExecutionJournal> {
    const logic: ExecutedLogic = { id: machine, version: version ?? null };
    const since = supervisor.status.position;
    const made = await supervisor.spawn('execution', { id, input: { logic: { ...logic } } });
    if (isRefusal(made) && made.code !== 'EXISTS') throw new Error(made.message);
    const { view } = (await supervisor.get('execution', id)) ?? {};
    const begun = (view as { readonly logic?: ExecutedLogic }).logic as ExecutedLogic;
    if (begun.id !== logic.id || begun.version !== logic.version)
      throw new TypeError(
        `The execution "${id}" was begun by ${nameOf(begun)} and cannot go on with ${nameOf(logic)}: run it with ` +
          'the former, or begin another one.',
      );
    const journal = new ExecutionJournal(supervisor, id);
    const driven = drivenBy.get(supervisor) ?? new Map<string, ExecutionJournal>();
    drivenBy.set(supervisor, driven);
    driven.get(id)?.fail(new Error(`Another adapter drives the execution "${id}" now.`));
    driven.set(id, journal);
    await journal.read();
    void journal.follow(since, signal).finally(() => {
      if (driven.get(id) === journal) driven.delete(id);
    });
    return journal;
  }

  noted(name: string): Outcome | undefined {
    return this.outcomes.get(name);
  }

  /** Whether the end of this actor's work is in the journal, applied or not. */
  hasEnded(session: string): boolean {
    return this.ended.has(session);
  }

  async note(name: string, outcome: Outcome): Promise<void> {
    await this.write({ type: 'work.noted', name, outcome });
    this.outcomes.set(name, outcome);
  }

  /** Resolves after the commit. */
  async write(event: ExecutionEvent): Promise<void> {
    if (this.failure !== undefined) throw this.failure.error;
    const answer = await this.supervisor.ask('execution', this.id, event as never);
    if (isRefusal(answer)) throw new Error(`The execution "${this.id}" cannot be written: ${answer.message}`);
  }

  /** The next occurrence, once there is one. Rejects at the end of the supervisor or of the adapter. */
  async next(): Promise<Occurrence> {
    for (;;) {
      const next = this.ahead.shift();
      if (next !== undefined) return next;
      if (this.failure !== undefined) throw this.failure.error;
      this.behind();
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** What waits for an occurrence rejects with it, and nothing is written any more. */
  fail(error: unknown): void {
    this.failure ??= { error };
    this.wake();
  }

  private async follow(since: number, signal: AbortSignal | undefined): Promise<void> {
    try {
      const ids = [this.id];
      const options = { since, kinds: ['execution'], ids, ...(signal === undefined ? {} : { signal }) };
      if (this.noted('end') !== undefined) return;
      for await (const _entry of this.supervisor.watch(options)) {
        await this.read();
        if (this.noted('end') !== undefined) return;
      }
      signal?.throwIfAborted();
      throw new Error('The supervisor has stopped.');
    } catch (error) {
      this.fail(error);
    }
  }

  private async read(): Promise<void> {
    for (;;) {
      const page = await this.supervisor.rows({ kind: 'execution', id: this.id }, 'entries', {
        after: this.last,
        limit: rowsMax,
      });
      for (const { n, row } of page) {
        const entry = row as unknown as Entry;
        this.last = Number(n);
        if (entry.type === 'noted') this.outcomes.set(entry.name, entry.outcome);
        else this.ahead.push(entry);
        if (entry.type === 'ended') this.ended.add(entry.session);
      }
      this.wake();
      if (page.length < rowsMax) return;
    }
  }
}

/** Who drives an execution, by the supervisor that keeps it: two would act twice. */
const drivenBy = new WeakMap<Supervisor, Map<string, ExecutionJournal>>();
const rowsMax = 500;

const nameOf = ({ id, version }: ExecutedLogic): string =>
  version === null ? `"${id}"` : `"${id}" version ${version}`;
