import { chosenWord } from '../agent/program.js';
import { missingPackage } from '../../optional-package.js';
import { keyOf } from '../remote/bounded-fetch.js';
import type { OpenAiOptions } from './options.js';

type Found =
  | { readonly available: true; readonly models: readonly string[] }
  | {
      readonly available: false;
      readonly reason: string;
      readonly remedy: string;
      readonly models: readonly string[];
    };

const askMs = 2_000;
const listBytesMax = 1024 * 1024;

/**
 * Is it there? A key that the settings name must be set. An endpoint of this machine is asked for its models,
 * which shows that someone listens; one elsewhere is not called before a turn wants it.
 */
export async function probe(options: Pick<OpenAiOptions, 'name' | 'baseUrl' | 'apiKeyEnv'>): Promise<Found> {
  const { name, baseUrl, apiKeyEnv } = options;
  const key = keyOf(options);
  if (apiKeyEnv !== undefined && key === undefined) {
    return {
      available: false,
      reason: `The variable ${apiKeyEnv}, which should hold its key, is not set.`,
      remedy: `Set ${apiKeyEnv} in the environment of the gateway and start it again.`,
      models: [],
    };
  }
  const command = missingPackage('openai');
  if (command !== undefined)
    return {
      available: false,
      reason: 'The package "openai" is not installed.',
      remedy: command,
      models: [],
    };
  const url = new URL(baseUrl);
  if (!/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)) return { available: true, models: [] };
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/models`, {
      signal: AbortSignal.timeout(askMs),
      redirect: 'error',
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    });
    return { available: true, models: response.ok ? idsIn(await bounded(response)) : [] };
  } catch {
    return {
      available: false,
      reason: `Nothing answers at ${url.host}.`,
      remedy: `Start the model server, or correct engines.openai.${name}.baseUrl.`,
      models: [],
    };
  }
}

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > listBytesMax) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `{data: [{id}]}`; ids that could not be chosen anyway are left out. */
function idsIn(text: string): readonly string[] {
  try {
    const { data } = JSON.parse(text) as { readonly data?: unknown };
    const ids = (Array.isArray(data) ? data : []).map(
      (model) => (model as { readonly id?: unknown } | null)?.id,
    );
    return [...new Set(ids.filter((id): id is string => typeof id === 'string' && isWord(id)))].slice(0, 200);
  } catch {
    return [];
  }
}

function isWord(id: string): boolean {
  try {
    return chosenWord(id) !== undefined;
  } catch {
    return false;
  }
}
