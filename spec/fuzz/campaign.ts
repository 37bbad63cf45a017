import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytesOf, shown, type Ask } from './ask.js';
import { readDocument } from './document.js';
import { judgeOf } from './judge.js';
import { logWatch } from './log-watch.js';
import { makeAsk } from './make-ask.js';
import { shrink } from './shrink.js';
import { fuzzSockets } from './sockets.js';
import { faultsLeftIn, removeHome, startVictim, type Victim } from './victim.js';
import { Wire } from './wire.js';
import { World } from './world.js';

/**
 * One run of the fuzzer: batches of requests and frames against one gateway, each followed by a look at its
 * health and its log.
 */
export interface Report {
  readonly requests: number;
  readonly frames: number;
  readonly seconds: number;
  /** `2xx` → how many; `cut` are those that were rude and got no answer. */
  readonly classes: ReadonlyMap<string, number>;
  readonly statuses: ReadonlyMap<string, number>;
  readonly routes: number;
  /** Routes that were never answered with a success. */
  readonly unreached: readonly string[];
  readonly slowestMs: number;
  readonly findings: readonly Finding[];
  readonly home: string;
}

export interface Finding {
  readonly key: string;
  readonly detail: string;
  readonly times: number;
  readonly request: string;
}

/** `await fuzz({requests: 3_000, seed: 1})`. The home is removed when there is nothing to look at. */
export async function fuzz(options: {
  readonly requests: number;
  readonly seed: number;
  readonly tell?: (line: string) => void;
  /** What takes longer, among others and alone, is a finding. Default: 250; a spec beside others bears more. */
  readonly slowMs?: number;
}): Promise<Report> {
  const home = await mkdtemp(join(tmpdir(), 'fuzz-'));
  const victim = await startVictim(home);
  try {
    const attacked = await attack(victim, options);
    await victim.close();
    const left = await faultsLeftIn(home);
    const report = {
      ...attacked,
      findings: [
        ...attacked.findings,
        ...left.map((detail) => ({ key: 'left behind', detail, times: 1, request: 'after the run' })),
      ],
    };
    if (report.findings.length === 0) await Promise.all([removeHome(home), removeHome(`${home}-backup`)]);
    return report;
  } finally {
    await victim.close();
  }
}

/** Without what differs between two faults of the same kind. */
const keyOf = (fault: string): string =>
  `${fault.slice(0, 40)} ${/"stack":"(.{0,160})/.exec(fault)?.[1] ?? ''}`.replaceAll(
    /[0-9a-f]{8}-[0-9a-f-]{27}|\d{6,}|fuzz-\w{6}/g,
    '…',
  );

const batchSize = 2_000;
const inFlight = 16;
const slowMsStandard = 250;
/** An answer of few instructions, and how many times as long is slow. */
const plain = {
  method: 'GET',
  path: '/api/status',
  query: [],
  headers: [],
  body: undefined,
  framing: 'length',
} as const;
const plainMax = 5;
/**
 * People ask for these, and they read thousands of entries page by page (each has its bound); others are
 * served in between.
 */
const copying = /\/api\/(?:backup|inspect\/(?:bundle|causes\/\{seq\}))$/;
/** A tenth of what is sent are frames on sockets. */
const frameShare = 0.1;

async function attack(
  victim: Victim,
  { requests, seed, tell = () => undefined, slowMs = slowMsStandard }: Parameters<typeof fuzz>[0],
): Promise<Report> {
  const world = new World(victim);
  const document = readDocument(await world.ask('GET', '/api/openapi.json'));
  const secrets = (): string[] => [
    ...victim.secrets,
    ...(world.agent ? [world.agent.token] : []),
    ...(world.browser?.cookies
      .split('; ')
      .map((one) => one.slice(one.indexOf('=') + 1))
      .filter((one) => one.length > 40) ?? []),
  ];
  const judge = judgeOf(document, {
    secrets,
    home: victim.home,
    install: fileURLToPath(new URL('../../', import.meta.url)),
  });
  const readLog = logWatch(join(victim.home, 'logs', 'gateway.log'), secrets);
  const counts = new Map<string, number>();
  const reached = new Set<string>();
  const found = new Map<string, { detail: string; times: number; request: string }>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const note = (key: string, detail: string, request: string): void => {
    const known = found.get(key);
    if (known) known.times += 1;
    else {
      found.set(key, { detail, times: 1, request });
      tell(`! ${key}: ${detail.slice(0, 200)}`);
    }
  };
  const began = performance.now();
  let slowestMs = 0;
  let sent = 0;
  let frames = 0;

  const single = async (ask: Ask) => {
    const wire = new Wire(victim.port);
    const answer = await wire.send(bytesOf(ask, victim.port), {
      head: ask.method === 'HEAD',
      hangUp: ask.framing === 'short' || ask.rude,
    });
    wire.close();
    return answer;
  };

  /**
   * Slow among others may be the others' fault; slow alone, three times, is its own, unless the machine is so slow that
   * what costs nothing takes as long.
   */
  async function confirmSlow(asks: readonly Ask[]): Promise<void> {
    for (const ask of asks.slice(0, 24)) {
      const least = { own: Infinity, plain: Infinity };
      for (let time = 0; time < 3 && least.own > slowMs; time++) {
        least.own = Math.min(least.own, (await single(ask)).ms);
        least.plain = Math.min(least.plain, (await single({ ...ask, ...plain })).ms);
      }
      if (least.own <= Math.max(slowMs, plainMax * least.plain)) continue;
      const key = `slow: ${judge.operationOf(ask)?.key ?? 'elsewhere'}`;
      note(key, `${Math.round(least.own)} ms alone`, shown(ask));
    }
  }

  async function batch(from: number, to: number): Promise<void> {
    let next = from;
    const suspects: Ask[] = [];
    const slow: Ask[] = [];
    await Promise.all(
      Array.from({ length: Math.min(inFlight, to - from) }, async () => {
        const wire = new Wire(victim.port);
        for (let n = next++; n < to && victim.alive; n = next++) {
          const ask = makeAsk(document, world, seed, n);
          const answer = ask.rude
            ? await single(ask)
            : await wire.send(bytesOf(ask, victim.port), { head: ask.method === 'HEAD' });
          const operation = judge.operationOf(ask);
          count(answer.status === 0 ? 'cut' : String(answer.status));
          sent += 1;
          slowestMs = Math.max(slowestMs, answer.ms);
          if (answer.status >= 200 && answer.status < 400 && operation) reached.add(operation.key);
          if (answer.ms > slowMs && !copying.test(operation?.key ?? '')) slow.push(ask);
          const faults = judge.faultsOf(ask, answer);
          if (faults.length > 0) suspects.push(ask);
          for (const { key, detail } of faults) note(key, detail, shown(ask));
        }
        wire.close();
      }),
    );
    await confirmSlow(slow);
    for (const ask of suspects) await explain(ask);
  }

  const explained = new Set<string>();
  /** The first of each fault is shrunk, as long as the gateway lives. */
  async function explain(ask: Ask): Promise<void> {
    if (!victim.alive) return;
    for (const [key, finding] of found) {
      if (explained.has(key) || finding.request !== shown(ask)) continue;
      explained.add(key);
      const shows = async (candidate: Ask): Promise<boolean> =>
        judge.faultsOf(candidate, await single(candidate)).some((fault) => fault.key === key);
      const least = await shrink(ask, shows);
      finding.request = `${shown(least.ask)}${least.again ? '' : ' (not seen again alone)'}`;
    }
  }

  async function look(): Promise<void> {
    if (!victim.alive)
      return note('crash', victim.said().slice(-2_000), `within the ${batchSize} requests before #${sent}`);
    const healthy = await fetch(`http://127.0.0.1:${victim.port}/healthz`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (!healthy) note('unhealthy', '/healthz does not answer', `before #${sent}`);
    for (const fault of await readLog()) note(keyOf(fault), fault, `before #${sent}`);
    const oops = /(?:Unhandled|uncaught|Warning:|\n\s+at )[^\n]*/i.exec(victim.said())?.[0];
    if (oops !== undefined) note('standard error', oops, `before #${sent}`);
  }

  const httpRequests = Math.ceil(requests * (1 - frameShare));
  for (let from = 0; from < httpRequests && victim.alive; from += batchSize) {
    await world.tend();
    const to = Math.min(from + batchSize, httpRequests);
    await batch(from, to);
    if (victim.alive) {
      const outcome = await fuzzSockets(
        world,
        document.sockets,
        seed * 1_000_003 + from,
        Math.round(((to - from) * frameShare) / (1 - frameShare)),
      );
      frames += outcome.sent;
      for (const fault of outcome.faults) note(`socket ${fault.slice(0, 60)}`, fault, 'a frame');
    }
    await look();
    tell(`${sent} requests, ${frames} frames, ${((performance.now() - began) / 1000).toFixed(0)} s`);
  }
  const unreached = document.operations.map(({ key }) => key).filter((key) => !reached.has(key));
  const classes = new Map<string, number>();
  for (const [status, times] of counts)
    classes.set(
      status === 'cut' ? status : `${status[0]}xx`,
      (classes.get(status === 'cut' ? status : `${status[0]}xx`) ?? 0) + times,
    );
  return {
    requests: sent,
    frames,
    seconds: (performance.now() - began) / 1000,
    classes,
    statuses: counts,
    routes: document.operations.length,
    unreached,
    slowestMs,
    home: victim.home,
    findings: [...found].map(([key, finding]) => ({ key, ...finding })),
  };
}
