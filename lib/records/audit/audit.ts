import { openAuditFiles, type AuditFiles } from './audit-files.js';
import { chained, type Link } from './chain.js';
import { isoTime } from '../../../machines/sortable.js';
import type { Environment } from '../../environment.js';

/**
 * Who was allowed or refused what: one line for every change that someone was let make, and one for every
 * run of refusals and of reads that are alike, with their number, so that no one can flood the log. Names,
 * numbers and addresses only: no contents, no secrets.
 */
export interface Audit {
  decided(decision: Decision): void;
  /** Write what waits. */
  flush(): Promise<void>;
  /** Called whenever lines were written. Answers the way to unsubscribe. */
  onWritten(listener: () => void): () => void;
  close(): Promise<void>;
}

export interface Decision {
  /** `operator`, `device:<id>`, `session:<id>`; `none`, `bad`, `lost` for those whom no one knows. */
  readonly by: string;
  /** Whose rights it was judged by, where not by those of `by`: who caused the work. */
  readonly onBehalfOf?: readonly string[] | undefined;
  /** Who uses the paired browser. */
  readonly person?: string | undefined;
  readonly address: string | undefined;
  /** Row of the authority table; `authentication` before there is one. */
  readonly authority: string;
  readonly method: string;
  /** What the path names, as far as the route says. */
  readonly target?: string | undefined;
  readonly verdict: 'allowed' | 'refused';
  /** Of the refusal. With `allowed`: the authority was there, the state stood in the way. */
  readonly code?: string | undefined;
}

export async function openAudit(options: {
  readonly folder: string;
  readonly environment: Environment;
}): Promise<Audit> {
  const { folder, environment } = options;
  const files: AuditFiles = await openAuditFiles(folder);
  const alike = new Map<string, Run>();
  const listeners = new Set<() => void>();
  let last: Link = files.last;
  /** Not chained yet: hashing is the flush's business, not that of the request. */
  let waiting: Readonly<Record<string, unknown>>[] = [];
  /** Chained, and not written yet. */
  let lines: string[] = [];
  let writing: Promise<void> = Promise.resolve();
  let closed = false;

  function note(members: Readonly<Record<string, unknown>>): void {
    waiting.push({ at: isoTime(environment.clock.now()), ...members });
    if (waiting.length % linesWaitingMax === 0) void flush();
  }

  /** What ran long enough, or everything, becomes lines. */
  function writeRuns(all: boolean): void {
    const now = environment.clock.monotonic();
    for (const [key, { decision, count, firstAt, since, targets }] of alike) {
      if (!all && now - since < runMs) continue;
      alike.delete(key);
      note({
        ...membersOf(decision),
        ...(targets.size > 0 && { target: [...targets] }),
        count,
        from: isoTime(firstAt),
      });
    }
  }

  function flush(seal = false): Promise<void> {
    writing = writing
      .then(async () => {
        for (const members of waiting) {
          const { text, link } = chained(members, last);
          last = link;
          lines.push(`${text}\n`);
        }
        waiting = [];
        if (lines.length > 0) {
          // A disk that fails once must not cut the chain: the next flush writes them again
          lines = lines.slice(-linesKeptMax);
          await files.append(lines.join(''), last);
          lines = [];
          for (const listener of listeners) listener();
        }
        if (seal) await files.seal();
      })
      .catch((error: unknown) => {
        environment.log.error({ err: error }, 'audit log could not be written');
      });
    return writing;
  }

  let ticks = 0;
  const ticking = setInterval(() => {
    writeRuns(false);
    ticks += 1;
    void flush(ticks % sealEveryTicks === 0);
  }, flushMs).unref();

  if (files.broken !== undefined) {
    environment.log.error({ reason: files.broken }, 'audit log does not continue where it ended');
    note({ what: 'broken', reason: files.broken });
  }
  note({ what: 'opened' });

  return {
    decided(decision) {
      if (closed) return;
      if (decision.verdict === 'allowed' && decision.method !== 'GET')
        return note({
          ...membersOf(decision),
          ...(decision.target !== undefined && { target: bounded(decision.target) }),
        });
      const { by, onBehalfOf = [], address, authority, method, verdict, code } = decision;
      const known = `${by} ${onBehalfOf.join()} ${address ?? ''} ${authority} ${method} ${verdict} ${code ?? ''}`;
      const key = alike.has(known) || alike.size < runsMax ? known : `* ${verdict}`;
      const run = alike.get(key);
      if (run === undefined) {
        const targets = new Set(decision.target === undefined ? [] : [bounded(decision.target)]);
        alike.set(key, {
          decision:
            key === known ? decision : { by: '*', address: undefined, authority: '*', method: '*', verdict },
          count: 1,
          firstAt: environment.clock.now(),
          since: environment.clock.monotonic(),
          targets,
        });
        return;
      }
      run.count += 1;
      if (decision.target !== undefined && run.targets.size < targetsMax)
        run.targets.add(bounded(decision.target));
    },
    onWritten(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async flush() {
      writeRuns(true);
      await flush(true);
    },
    async close() {
      clearInterval(ticking);
      writeRuns(true);
      note({ what: 'closed' });
      closed = true;
      await flush(true);
    },
  };
}

interface Run {
  readonly decision: Decision;
  count: number;
  readonly firstAt: number;
  readonly since: number;
  readonly targets: Set<string>;
}

const flushMs = 1_000;
/** The disk is asked to keep it that seldom: it has more urgent things to keep. */
const sealEveryTicks = 10;
const runMs = 10_000;
const runsMax = 1_000;
const targetsMax = 5;
const causesMax = 20;
const linesWaitingMax = 500;
/** While the disk fails; some 30 MB. Beyond it the oldest are lost, and `audit verify` says so. */
const linesKeptMax = 100_000;

const bounded = (text: string): string => text.slice(0, 200);

const membersOf = ({
  by,
  onBehalfOf,
  person,
  address,
  authority,
  method,
  verdict,
  code,
}: Decision): Record<string, unknown> => ({
  verdict,
  by: bounded(by),
  ...(onBehalfOf !== undefined && { onBehalfOf: onBehalfOf.slice(0, causesMax).map(bounded) }),
  ...(person !== undefined && { person }),
  ...(address !== undefined && { address }),
  authority,
  method,
  ...(code !== undefined && { code }),
});
