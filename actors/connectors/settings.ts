import { readFileSync } from 'node:fs';
import type { Json } from '../../machines/outputs.js';

/**
 * Settings of an instance as config.yaml has them; each reader throws a sentence that names connector and
 * member.
 */
export type Settings = Readonly<Record<string, Json>>;

export function textOf(settings: Settings, type: string, member: string, fallback?: string): string {
  const value = settings[member] ?? fallback;
  if (typeof value !== 'string' || value.trim() === '')
    throw new Error(`A connector of type ${type} needs "${member}".`);
  return value;
}

/**
 * A secret: written out, or better `{env: NAME}` (a variable of the gateway's environment) or `{file: PATH}`
 * (its content without the end of line). Read when the connector opens, so that a new one needs only a
 * reload.
 * @example secretOf({botToken: {env: 'SLACK_TOKEN'}}, 'slack', 'botToken')
 */
export function secretOf(settings: Settings, type: string, member: string): string {
  const value = settings[member];
  if (typeof value === 'string' && value !== '') return value;
  const { env, file } = (typeof value === 'object' && value !== null ? value : {}) as {
    readonly env?: unknown;
    readonly file?: unknown;
  };
  if (typeof env === 'string') {
    const kept = process.env[env];
    if (kept === undefined || kept === '')
      throw new Error(`"${member}" of this ${type} connector: the environment variable ${env} is not set.`);
    return kept;
  }
  if (typeof file === 'string') {
    const kept = readSecret(file, `"${member}" of this ${type} connector`);
    if (kept !== '') return kept;
    throw new Error(`"${member}" of this ${type} connector: the file is empty.`);
  }
  throw new Error(`A connector of type ${type} needs "${member}": a text, {env: NAME} or {file: PATH}.`);
}

export function secondsOf(settings: Settings, type: string, fallback: number): number {
  const value = settings['timeoutSeconds'] ?? fallback;
  if (typeof value !== 'number' || !(value > 0 && value <= 60))
    throw new Error(`timeoutSeconds of a ${type} connector must be a number from 1 to 60.`);
  return value;
}

/** Another address of the vendor (a proxy, a test). */
export function addressOf(settings: Settings, type: string, member: string, fallback: string): string {
  const value = textOf(settings, type, member, fallback);
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (
    url === undefined ||
    !/^(?:https?|wss?):$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  )
    throw new Error(`"${member}" of a ${type} connector must be an https:// URL without a password.`);
  return value;
}

function readSecret(path: string, whose: string): string {
  try {
    return readFileSync(path, 'utf8')
      .slice(0, 64 * 1024)
      .trim();
  } catch (error) {
    throw new Error(`${whose} cannot be read from its file (${String((error as { code?: unknown }).code)}).`);
  }
}
