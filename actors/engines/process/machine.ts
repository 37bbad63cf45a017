import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Which machine this is: whose process table a note of a child belongs to, and whose wall clock a time was read
 * from. A name of our own, from what the system calls itself, so that no note tells it: SVC_NODE where an operator
 * gives one, else the system's own id, else its name.
 */
export function machineName(env: NodeJS.ProcessEnv = process.env): string {
  const given = env['SVC_NODE'];
  if (given !== undefined && given !== '') return given;
  return (known ??= createHash('sha256').update(ownId()).digest('base64url').slice(0, 16));
}

/** Linux names its boots; elsewhere every start counts as another one. */
export function bootName(): string {
  return (boot ??= firstLine('/proc/sys/kernel/random/boot_id'));
}

let known: string | undefined;
let boot: string | undefined;

/** A container without an id of its own is made again at each start: then the boot beneath it tells more. */
const ownId = (): string => firstLine('/etc/machine-id') || bootName() || hostname();

function firstLine(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
