import type { Json } from '../outputs.js';
import { deeperThan, jsonDepthMax } from '../text.js';
import { limits, type StepOutcome } from './context.js';

/** An outcome within its bounds: what is longer is cut, and says so. */
export function trim(outcome: StepOutcome): StepOutcome {
  const { summary, notes, artifacts, fields, finalMessage, sessionId, extractedFrom } = outcome;
  return {
    ...(summary === undefined ? {} : { summary: cut(summary, limits.summaryCharsMax) }),
    ...(notes === undefined ? {} : { notes: cut(notes, limits.summaryCharsMax) }),
    ...(artifacts === undefined
      ? {}
      : { artifacts: artifacts.slice(0, limits.artifactsMax).map((artifact) => cut(artifact, 500)) }),
    ...(fields === undefined ? {} : { fields: bounded(fields) }),
    ...(finalMessage === undefined ? {} : { finalMessage: cut(finalMessage, limits.finalMessageCharsMax) }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(extractedFrom === undefined ? {} : { extractedFrom }),
  };
}

function bounded(fields: NonNullable<StepOutcome['fields']>): NonNullable<StepOutcome['fields']> {
  let left: number = limits.outcomeCharsMax;
  const kept: Record<string, Json> = {};
  for (const [name, value] of Object.entries(fields).slice(0, limits.fieldsMax)) {
    if (value === undefined) continue;
    if (deeperThan(value, jsonDepthMax)) {
      kept[name] = null;
      continue;
    }
    const chars = JSON.stringify(value).length;
    if (chars <= left) kept[name] = value;
    else kept[name] = typeof value === 'string' ? cut(value, Math.max(0, left)) : null;
    left -= Math.min(left, chars);
  }
  return kept;
}

const cut = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : `${text.slice(0, Math.max(0, charsMax - 1))}…`;

/**
 * What a session said last, as an outcome: its handoff block where there is one (a JSON object in a code
 * block, or the whole message, with any of `summary`, `notes`, `artifacts`, `fields`, or simply the fields),
 * else the message itself.
 */
export function readOutcome(text: string): StepOutcome {
  const said = { finalMessage: text };
  const block = lastObject(text);
  if (block === undefined) return { ...said, extractedFrom: 'final-message' };
  const { summary, notes, artifacts, fields, ...others } = block;
  const named = isRecord(fields) ? fields : others;
  return {
    ...said,
    ...(typeof summary === 'string' ? { summary } : {}),
    ...(typeof notes === 'string' ? { notes } : {}),
    ...(Array.isArray(artifacts)
      ? { artifacts: artifacts.filter((artifact): artifact is string => typeof artifact === 'string') }
      : {}),
    ...(Object.keys(named).length > 0 ? { fields: named as NonNullable<StepOutcome['fields']> } : {}),
    extractedFrom: 'handoff-block',
  };
}

/** The last code block that holds a JSON object; else the whole text, if it is one. */
function lastObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const parts = text.split('```');
  for (let at = parts.length % 2 === 0 ? parts.length - 1 : parts.length - 2; at > 0; at -= 2) {
    const found = parsed((parts[at] ?? '').replace(/^[a-z-]{0,20}\n/i, ''));
    if (found !== undefined) return found;
  }
  return parsed(text);
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    // prose that happens to begin with a brace
    return undefined;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
