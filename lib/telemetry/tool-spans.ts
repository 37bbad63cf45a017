import type { ProgressFrame } from '../supervisor/contract.js';
import { contentMax } from './turn-span.js';
import { spanIdOf, type EndedSpan, type TraceContext } from './spans.js';

/** What a session says of its agent's tools as they are used. */
interface Delta {
  readonly type?: string;
  readonly toolId?: string;
  readonly toolName?: string;
  readonly messageId?: string;
  readonly input?: string;
  readonly content?: string;
  readonly isError?: boolean;
}

interface OpenTool {
  readonly from: number;
  readonly delta: Delta;
  readonly turn: Promise<TraceContext | undefined>;
}

/** Tools that agents use, from their first word to their last: `execute_tool Bash`. */
export class ToolSpans {
  private readonly open = new Map<string, OpenTool>();

  constructor(
    private readonly turnOf: (sessionId: string) => Promise<TraceContext | undefined>,
    private readonly content: boolean,
  ) {}

  /** The span that this frame ends. */
  async take({ actor, event, payload, at }: ProgressFrame): Promise<EndedSpan | undefined> {
    if (actor.kind !== 'session' || event !== 'session:delta') return undefined;
    const delta = payload as Delta;
    if (delta.toolId === undefined) return undefined;
    const key = `${actor.id}\n${delta.toolId}`;
    if (delta.type === 'tool_use') {
      if (this.open.size >= openMax) return undefined;
      const turn = this.turnOf(actor.id).catch(() => undefined); // no one may be there to hear of it
      this.open.set(key, { from: at, delta, turn });
      return undefined;
    }
    const begun = this.open.get(key);
    if (delta.type !== 'tool_result' || begun === undefined) return undefined;
    this.open.delete(key);
    const turn = await begun.turn;
    if (turn === undefined) return undefined;
    return {
      ...this.spanOf(actor.id, turn, begun),
      to: at,
      ...(delta.isError === true && { error: 'the tool failed' }),
      attributes: {
        ...this.attributesOf(actor.id, begun.delta),
        ...(this.content && { 'gen_ai.tool.call.result': delta.content?.slice(0, contentMax) }),
      },
    };
  }

  /** A session's turn is over: so are its tools. */
  async end(sessionId: string, at: number): Promise<readonly EndedSpan[]> {
    const left = [...this.open].filter(([key]) => key.startsWith(`${sessionId}\n`));
    for (const [key] of left) this.open.delete(key);
    const spans = await Promise.all(
      left.map(async ([, begun]) => {
        const turn = await begun.turn;
        return (
          turn && {
            ...this.spanOf(sessionId, turn, begun),
            to: at,
            error: 'interrupted',
            attributes: this.attributesOf(sessionId, begun.delta),
          }
        );
      }),
    );
    return spans.filter((span) => span !== undefined);
  }

  private spanOf(
    sessionId: string,
    { traceId, spanId, isSampled }: TraceContext,
    { from, delta }: OpenTool,
  ): Omit<EndedSpan, 'to' | 'attributes'> {
    return {
      traceId,
      isSampled,
      spanId: spanIdOf(traceId, sessionId, delta.messageId ?? '', delta.toolId ?? '', String(from)),
      parentSpanId: spanId,
      name: `execute_tool ${delta.toolName ?? 'tool'}`,
      kind: 'internal',
      from,
    };
  }

  private attributesOf(sessionId: string, { toolName, toolId, input }: Delta): EndedSpan['attributes'] {
    return {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': toolName,
      'gen_ai.tool.call.id': toolId,
      'gen_ai.conversation.id': sessionId,
      ...(this.content && { 'gen_ai.tool.call.arguments': input?.slice(0, contentMax) }),
    };
  }
}

const openMax = 10_000;
