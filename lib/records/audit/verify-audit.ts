import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { namesOf, readHead } from './audit-files.js';
import { linkOf, type Link } from './chain.js';

/** What a look at every line of the audit log found. */
export interface AuditReport {
  readonly lines: number;
  readonly files: number;
  /** First and last number. */
  readonly from: number | null;
  readonly to: number | null;
  /** Sentences; empty when the log is whole. At most a hundred. */
  readonly findings: readonly string[];
}

/** `await verifyAudit(layout.audit)`: reads every line, changes nothing. Also while the gateway runs. */
export async function verifyAudit(folder: string): Promise<AuditReport> {
  const names = await namesOf(folder);
  const head = await readHead(folder);
  const findings: string[] = [];
  let lines = 0;
  let first: Link | undefined;
  let before: Link | undefined;
  for (const name of names) {
    let at = 0;
    for await (const text of createInterface({
      input: createReadStream(join(folder, name), 'utf8'),
      crlfDelay: Infinity,
    })) {
      at += 1;
      lines += 1;
      const link = linkOf(text, before);
      const where = `${name} line ${at}`;
      if (typeof link !== 'string') {
        first ??= link;
        before = link;
        continue;
      }
      if (findings.length < findingsMax) findings.push(`${where}: ${link}.`);
      const alone = linkOf(text); // go on from here, so that one break is told once
      before = typeof alone === 'string' ? undefined : alone;
    }
  }
  if (head === undefined && lines > 0)
    findings.push('head.json is missing or damaged: missing lines at the ends cannot be detected.');
  const isNew = head?.last.n === 0 && lines === 0;
  if (head !== undefined && !isNew && (first?.n ?? Infinity) > head.floor)
    findings.push(
      `The log begins at line ${first?.n ?? 'none'} and must begin at line ${head.floor}: lines are ` +
        'missing at its beginning.',
    );
  if (head !== undefined && (before?.n ?? 0) < head.last.n)
    findings.push(
      `The log ends at line ${before?.n ?? 0} and must end at line ${head.last.n}: lines are missing at its end.`,
    );
  return { lines, files: names.length, from: first?.n ?? null, to: before?.n ?? null, findings };
}

const findingsMax = 100;
