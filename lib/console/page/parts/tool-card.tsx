import { useSignal } from '@preact/signals';
import { now } from '../../../page/clock.js';
import { Patch } from './patch.js';

/** The use of a tool: its name and what it was given in a line; opened, the whole input and what came of it. */
export interface ToolUse {
  readonly id: string;
  readonly tool: string;
  /** As the agent gave it: an object, a text, or nothing that was kept. */
  readonly input: unknown;
  readonly output: unknown;
  readonly state: 'running' | 'done' | 'failed';
  readonly tookMs: number | undefined;
  readonly exit: number | undefined;
  /** When it began, epoch milliseconds, by the gateway's clock: while it runs it says how long. */
  readonly since?: number;
  /** In place of the word for its state. */
  readonly word?: string;
}

export function ToolCard({ use }: { readonly use: ToolUse }) {
  const open = useSignal(false);
  const line = summary(use.input);
  const tookMs =
    use.state === 'running' && use.since !== undefined ? Math.max(0, now.value - use.since) : use.tookMs;
  return (
    <div class={`tool ${use.state}`} data-tool={use.tool}>
      <button
        type="button"
        class="tool-head"
        aria-expanded={open.value}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        <i class={`lamp ${use.state}`} aria-hidden="true" />
        <b>{use.tool}</b>
        <span class="clip mono">{line}</span>
        <span class="soft num end">
          {use.word ?? (use.state === 'done' ? '' : use.state)}
          {use.exit !== undefined && ` exit ${use.exit}`}
          {tookMs !== undefined && ` ${duration(tookMs)}`}
        </span>
      </button>
      {open.value && (
        <div class="tool-body">
          <Part name="Input" value={use.input} />
          <Part name="Output" value={use.output} />
        </div>
      )}
    </div>
  );
}

function Part({ name, value }: { readonly name: string; readonly value: unknown }) {
  const patch = patchIn(value);
  const text = patch ?? textOf(value);
  return (
    <section aria-label={name}>
      <h4>{name}</h4>
      {text === '' ? (
        <p class="soft small">Nothing was kept.</p>
      ) : (
        <pre tabIndex={0} role="group" aria-label={name}>
          {patch === undefined ? text : <Patch text={patch} />}
        </pre>
      )}
    </section>
  );
}

/** What the tool is used on, in a line: the command, the file, the pattern. */
export function summary(input: unknown): string {
  const value = parsed(input);
  if (typeof value === 'string') return value.split('\n', 1)[0] ?? '';
  if (typeof value !== 'object' || value === null) return '';
  const members = value as Readonly<Record<string, unknown>>;
  for (const name of leading) if (typeof members[name] === 'string') return members[name];
  const [first] = Object.values(members).filter((one) => typeof one === 'string');
  return first ?? '';
}
const leading = ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'prompt', 'description'];

/** An edit as a patch: what goes and what comes in its place. */
export function patchIn(input: unknown): string | undefined {
  const value = parsed(input);
  if (typeof value !== 'object' || value === null) return undefined;
  const { old_string: before, new_string: after, patch } = value as Readonly<Record<string, unknown>>;
  if (typeof patch === 'string') return patch;
  if (typeof before !== 'string' || typeof after !== 'string') return undefined;
  const lines = (text: string, mark: string): string =>
    text === ''
      ? ''
      : `${text
          .split('\n')
          .map((line) => mark + line)
          .join('\n')}\n`;
  return lines(before, '-') + lines(after, '+');
}

export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const whole = parsed(value);
  return typeof whole === 'string' ? whole : JSON.stringify(whole, null, 2);
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value; // cut off, or a text that only looks like JSON
  }
}

const duration = (ms: number): string =>
  ms < 1_000 ? `${ms} ms` : ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
