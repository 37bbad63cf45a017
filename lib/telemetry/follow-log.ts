import type { LogEntry, Supervisor } from '../supervisor/contract.js';
import { turnEffect, type KnownEffect, type Lineage } from './lineage.js';
import type { Sdk } from './sdk.js';
import type { EndedSpan } from './spans.js';
import type { ToolSpans } from './tool-spans.js';
import { turnSpan } from './turn-span.js';

/**
 * The log as spans: one for each entry that something outside of its actor caused, and one for each effect, when it
 * has ended. What an effect says while it runs belongs to its own span.
 */
export class LogSpans {
  constructor(
    private readonly supervisor: Supervisor,
    private readonly lineage: Lineage,
    private readonly sdk: Sdk,
    private readonly tools: ToolSpans,
    private readonly content: boolean,
  ) {}

  async take(entry: LogEntry): Promise<void> {
    const { cause } = entry;
    const isOfEffect = typeof cause === 'string' && cause.startsWith('effect:');
    const hasEnded = isOfEffect && /^effect:\d+\.\d+$/.test(cause);
    const ended = hasEnded ? await this.lineage.effectBehind(entry) : undefined;
    if (ended !== undefined) await this.end(ended, entry);
    for (const left of entry.effects.filter((name) => name.startsWith('-'))) {
      const effect = await this.lineage.latestEffect(entry, left.slice(1), entry.position);
      if (effect !== undefined) await this.end(effect, entry);
    }
    if (!isOfEffect || hasEnded) this.sdk.span(await this.spanOf(entry));
  }

  private async spanOf(entry: LogEntry): Promise<EndedSpan> {
    const { kind, id, at, event, position, revision, by } = entry;
    const { type } = event as { readonly type: string };
    return {
      ...(await this.lineage.of(entry)),
      name: `${kind} ${type}`,
      kind: 'internal',
      from: at,
      to: at,
      attributes: {
        'troupe.kind': kind,
        'troupe.id': id,
        'troupe.event': type,
        'troupe.position': position,
        'troupe.revision': revision,
        'troupe.from': entry.from === null ? null : stateOf(entry.from),
        'troupe.to': stateOf(entry.to),
        'troupe.by': by,
      },
    };
  }

  private async end(effect: KnownEffect, ended: LogEntry): Promise<void> {
    const { started, src, place } = effect;
    if (started.kind !== 'session' || src !== turnEffect) {
      const { type } = ended.event as { readonly type: string };
      this.sdk.span({
        ...place,
        name: `${started.kind} ${src}`,
        kind: 'internal',
        from: started.at,
        to: ended.at,
        attributes: { 'troupe.kind': started.kind, 'troupe.id': started.id, 'troupe.effect': src },
        ...(type.startsWith('xstate.error.') && { error: 'the effect failed' }),
      });
      return;
    }
    for (const span of await this.tools.end(started.id, ended.at)) this.sdk.span(span);
    const { seconds, tokens, labels, ...span } = await turnSpan(this.supervisor, effect, ended, this.content);
    this.sdk.span(span);
    this.sdk.turnSeconds.record(seconds, labels);
    for (const [type, count] of [
      ['input', tokens.inputTokens],
      ['output', tokens.outputTokens],
    ] as const)
      if (count !== undefined) this.sdk.turnTokens.record(count, { ...labels, 'gen_ai.token.type': type });
  }
}

const stateOf = (value: LogEntry['to']): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
