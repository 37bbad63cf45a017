import type { Json } from '../../machines/outputs.js';
import type { LogEntry, Supervisor } from '../supervisor/contract.js';
import { messagesOf, type KnownEffect } from './lineage.js';
import type { EndedSpan } from './spans.js';

/**
 * A turn in the words of OpenTelemetry's conventions for generative AI: `invoke_agent`, with engine, model and tokens.
 * What was asked and answered is in it only where `content` is on.
 */
export async function turnSpan(
  supervisor: Supervisor,
  { started, place }: KnownEffect,
  ended: LogEntry,
  content: boolean,
): Promise<EndedSpan & { readonly seconds: number; readonly tokens: TurnTokens; readonly labels: Labels }> {
  const { id } = started;
  const output = (ended.event as { readonly output?: TurnEnd }).output ?? {};
  const { outcome = 'interrupted', usage = {} } = output;
  const view = ((await supervisor.get('session', id))?.view ?? {}) as SessionView;
  const { engine = 'unknown', model = null, employee = null } = view;
  const labels: Labels = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': providers[engine] ?? engine,
    ...(model !== null && { 'gen_ai.request.model': model }),
    ...(outcome === 'succeeded' ? {} : { 'error.type': outcome }),
  };
  const said = content ? await contents(supervisor, started, `${turnOf(started, ended)}:answer`) : {};
  return {
    ...place,
    name: `invoke_agent ${employee ?? engine}`,
    kind: 'internal',
    from: started.at,
    to: ended.at,
    attributes: {
      ...labels,
      'gen_ai.agent.name': employee ?? engine,
      'gen_ai.conversation.id': id,
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
      'troupe.engine': engine,
      'troupe.outcome': outcome,
      'troupe.cost_usd': usage.costUsd,
      ...said,
    },
    ...(outcome === 'succeeded' ? {} : { error: outcome }),
    seconds: Math.max(0, ended.at - started.at) / 1_000,
    tokens: usage,
    labels,
  };
}

type Labels = Readonly<Record<string, string>>;

export interface TurnTokens {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

interface TurnEnd {
  readonly outcome?: string;
  readonly usage?: TurnTokens & { readonly cachedTokens?: number; readonly costUsd?: number };
}

interface SessionView {
  readonly engine?: string;
  readonly model?: string | null;
  readonly employee?: string | null;
}

/** Names of the conventions; other engines go by their own. */
const providers: Readonly<Record<string, string>> = {
  claude: 'anthropic',
  codex: 'openai',
  openai: 'openai',
};

function turnOf({ snapshot }: LogEntry, ended: LogEntry): string {
  interface WithTurn {
    readonly turn?: { readonly id?: string } | null;
  }
  const { set, whole } = snapshot as { set?: WithTurn; whole?: { readonly context?: WithTurn } };
  return (set ?? whole?.context)?.turn?.id ?? ended.id;
}

interface Message {
  readonly id?: string;
  readonly role?: string;
  readonly content?: string;
}

/** Question and answer, each at most 32,000 characters. */
async function contents(
  supervisor: Supervisor,
  started: LogEntry,
  answerId: string,
): Promise<Record<string, string>> {
  const rows = await supervisor.rows({ kind: 'session', id: started.id }, 'messages', { last: 500 });
  const messages = rows.map(({ row }) => row as Message);
  const asked = new Set(messagesOf(started));
  const written = (wanted: (message: Message) => boolean): string =>
    JSON.stringify(
      messages.filter(wanted).map(({ role = 'user', content = '' }) => ({
        role,
        parts: [{ type: 'text', content: content.slice(0, contentMax) }],
      })) satisfies Json,
    );
  return {
    'gen_ai.input.messages': written(({ id = '' }) => asked.has(id)),
    'gen_ai.output.messages': written(({ id }) => id === answerId),
  };
}

export const contentMax = 32_000;
