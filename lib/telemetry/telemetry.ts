import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Causality } from '../environment.js';
import type { EffectContext } from '../../actors/contracts.js';
import type { Supervisor } from '../supervisor/contract.js';
import { createCausality } from './causality.js';
import { LogSpans } from './follow-log.js';
import { Lineage, turnEffect, type Place } from './lineage.js';
import { openSdk, type Measured, type TelemetrySettings } from './sdk.js';
import { ToolSpans } from './tool-spans.js';
import { readTraceparent, traceparentOf, type TraceContext } from './spans.js';

/** A request, before it is carried out. */
export interface TracedRequest {
  /** `POST /api/sessions`; known when it has been carried out. */
  readonly name: () => string;
  /** The header as it came. */
  readonly traceparent: string | undefined;
  /** Of the agent that makes it; absent: a person or a program. */
  readonly sessionId: string | undefined;
  /** Known when it has been carried out. */
  readonly attributes: () => Readonly<Record<string, string | number | undefined>>;
}

/** Follows causes through requests, the log, effects and agents, and sends what it sees. */
export interface Telemetry {
  readonly causality: Causality;
  /** Fields of every line of the log. */
  readonly logFields: () => object;
  /** A line of the log, secrets taken out. */
  readonly line: (line: string) => void;
  /** W3C trace context for the programs of the turn that this effect is. */
  readonly traceparent: (context: EffectContext) => Promise<string | undefined>;
  /** Carries out a request as a span. */
  readonly request: (request: TracedRequest, run: () => Promise<void>) => Promise<void>;
  /** The request that is being carried out calls this tool. */
  readonly noteTool: (name: string) => void;
  /** The home is this gateway's from now on; what was committed before was another's to send. */
  readonly own: () => void;
  /** From now on what the supervisor commits becomes spans. */
  readonly follow: (supervisor: Supervisor, measured: () => Promise<readonly Measured[]>) => void;
  readonly close: () => Promise<void>;
}

/** Loads the SDK: call it only where telemetry is on. */
export async function openTelemetry(
  settings: TelemetrySettings,
  facts: { readonly version: string; readonly instance: string; readonly log: () => Logger },
): Promise<Telemetry> {
  let ownedAt = Date.now();
  let reportedAt = -Infinity;
  const onFault = (error: unknown): void => {
    const now = performance.now();
    if (now - reportedAt < 60_000) return; // it fails as often as it is tried
    reportedAt = now;
    // Its answer is not ours to keep: it may repeat the key that it was sent
    const { message, code } = error as { readonly message?: string; readonly code?: unknown };
    facts.log().warn({ reason: message?.slice(0, 500), code }, 'telemetry could not be sent');
  };
  const sdk = await openSdk(settings, { ...facts, onFault });
  let lineage: Lineage | undefined;
  let ended: Promise<void> | undefined;
  const closing = new AbortController();
  /** Turns that run, by session. */
  const turns = new Map<string, Place>();

  const causality = createCausality(async (cause) => {
    const [what = '', name = ''] = cause.split(/=(.*)/s);
    return what === 'traceparent' ? readTraceparent(name) : (await lineage?.effectNamed(name))?.place;
  });

  async function turnOf(sessionId: string): Promise<Place | undefined> {
    const known = turns.get(sessionId);
    if (known !== undefined) return known;
    const place = (await lineage?.latestEffect({ kind: 'session', id: sessionId }, turnEffect))?.place;
    if (place !== undefined) remember(sessionId, place);
    return place;
  }

  function remember(sessionId: string, place: Place): void {
    turns.delete(sessionId);
    turns.set(sessionId, place);
    const [oldest] = turns.keys();
    if (turns.size > turnsMax && oldest !== undefined) turns.delete(oldest);
  }

  /** An agent goes on in the trace of its turn, whatever it says: no agent can hide what it does, or blame another. */
  async function parentOf(request: TracedRequest): Promise<TraceContext | undefined> {
    const given = readTraceparent(request.traceparent);
    if (request.sessionId === undefined) return given;
    const turn = await turnOf(request.sessionId);
    return turn !== undefined && given?.traceId === turn.traceId ? { ...turn, spanId: given.spanId } : turn;
  }

  return {
    causality,
    line: sdk.line,
    logFields: () => {
      const { context } = causality.account() ?? {};
      return context === undefined ? {} : { trace_id: context.traceId, span_id: context.spanId };
    },
    async traceparent({ key, actor }) {
      const effect = await lineage?.effectNamed(key);
      if (effect === undefined) return undefined;
      remember(actor.id, effect.place);
      return traceparentOf(effect.place);
    },
    async request(request, run) {
      const parent = await parentOf(request).catch(() => undefined);
      const { traceId = randomBytes(16).toString('hex'), isSampled = true } = parent ?? {};
      const own = { traceId, isSampled, spanId: randomBytes(8).toString('hex') };
      const from = Date.now();
      let error: string | undefined = 'fault';
      let tool: string | undefined;
      try {
        await causality.within(`traceparent=${traceparentOf(own)}`, async () => {
          await run();
          tool = causality.account()?.notes['tool'];
        });
        error = undefined;
      } finally {
        const to = Date.now();
        const attributes = request.attributes();
        sdk.requestSeconds.record((to - from) / 1_000, pick(attributes, measuredBy));
        sdk.span({
          ...own,
          parentSpanId: parent?.spanId,
          name: tool === undefined ? request.name() : `execute_tool ${tool}`,
          kind: 'server',
          from,
          to,
          error: error ?? (Number(attributes['http.response.status_code']) >= 500 ? 'fault' : undefined),
          attributes: {
            ...attributes,
            ...(request.sessionId !== undefined && { 'gen_ai.conversation.id': request.sessionId }),
            ...(tool !== undefined && {
              'gen_ai.operation.name': 'execute_tool',
              'gen_ai.tool.name': tool,
            }),
          },
        });
      }
    },
    noteTool: (name) => {
      const account = causality.account();
      if (account !== undefined) account.notes['tool'] = name;
    },
    own: () => (ownedAt = Date.now()),
    follow(supervisor, measured) {
      lineage = new Lineage(supervisor);
      const tools = new ToolSpans(turnOf, settings.content);
      const spans = new LogSpans(supervisor, lineage, sdk, tools, settings.content);
      sdk.measure(measured);
      const ignore = supervisor.onProgress((frame) => {
        tools.take(frame).then((span) => span && sdk.span(span), onFault);
      });
      // What was committed while the supervisor was made, by what the last life left
      const since = Math.max(supervisor.inspection.floor, supervisor.inspection.head - entriesBefore);
      ended = (async () => {
        try {
          for await (const entry of supervisor.watch({ since, signal: closing.signal }))
            if (entry.at >= ownedAt) await spans.take(entry).catch(onFault);
        } finally {
          ignore();
        }
      })().catch(onFault);
    },
    async close() {
      closing.abort();
      await ended;
      await sdk.close();
    },
  };
}

const turnsMax = 10_000;
const entriesBefore = 1_000;

/** The conventions' labels of `http.server.request.duration`: few values each. */
const measuredBy: readonly string[] = ['http.request.method', 'http.route', 'http.response.status_code'];

const pick = (
  from: Readonly<Record<string, string | number | undefined>>,
  names: readonly string[],
): Record<string, string | number> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = from[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
