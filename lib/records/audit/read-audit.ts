import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { namesOf } from './audit-files.js';

/** A line of the audit log that says what a caller was let change. */
export interface AuditedChange {
  readonly at: string;
  readonly authority: string;
  readonly method: string;
  readonly target?: string;
  readonly address?: string;
  readonly person?: string;
}

/**
 * What a caller was let change, newest first, at most `limit`. Lines that cannot be read are passed over: they are
 * for `troupe audit verify` to find.
 * @example await changesBy(layout.audit, 'device:a1', 500)
 */
export async function changesBy(
  folder: string,
  by: string,
  limit: number,
): Promise<readonly AuditedChange[]> {
  const found: AuditedChange[] = [];
  for (const name of await namesOf(folder))
    for await (const text of createInterface({
      input: createReadStream(join(folder, name), 'utf8'),
      crlfDelay: Infinity,
    })) {
      if (!text.includes(JSON.stringify(by))) continue;
      const line = read(text);
      if (line?.['by'] !== by || line['verdict'] !== 'allowed' || line['method'] === 'GET') continue;
      const { at, authority, method, target, address, person } = line;
      found.push({
        at: String(at),
        authority: String(authority),
        method: String(method),
        ...(typeof target === 'string' && { target }),
        ...(typeof address === 'string' && { address }),
        ...(typeof person === 'string' && { person }),
      });
      if (found.length > 2 * limit) found.splice(0, found.length - limit);
    }
  return found.reverse().slice(0, limit);
}

function read(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
