import { pino, type Logger } from 'pino';
import type { Config } from './config.js';
import type { Layout } from './layout.js';
import { openLogFile, type LogFile } from './log-file.js';
import { redactedPaths } from '../environment.js';

/**
 * The process's log as config.yaml wants it: logs/gateway.log (one JSON object per line, readable by the
 * owner only, put aside when it is full), standard output, both or neither.
 */
export interface OpenLog {
  readonly log: Logger;
  /** From now on; what was opened stays open. */
  setLevel(level: Config['logging']['level']): void;
  /** Write out what is buffered and close the file. */
  close(): Promise<void>;
}

/** Where lines go besides, and what each says more. */
export interface AlsoLogged {
  readonly line: (line: string) => void;
  readonly logFields: () => object;
}

export function openLog(
  { level, file, stdout, fileBytesMax, filesKept }: Config['logging'],
  layout: Layout,
  also?: AlsoLogged,
): OpenLog {
  let opened: LogFile | undefined;
  // Opened at the first line: a start that finds the home held by another process has nothing to write and
  // touches nothing.
  const open = (): LogFile => (opened = openLogFile(layout.log, { bytesMax: fileBytesMax, kept: filesKept }));
  const write = (line: string): void => {
    const target = opened ?? open();
    if (target.isOpen()) target.write(scrub(line));
  };
  const toFile = file ? { write } : undefined;
  // The streams take everything: the one level is the logger's own, which can change.
  const streams: { level: 'trace'; stream: { write: (line: string) => void } }[] = [
    ...(toFile === undefined ? [] : [{ level: 'trace' as const, stream: toFile }]),
    ...(stdout
      ? [
          {
            level: 'trace' as const,
            stream: { write: (line: string) => void process.stdout.write(scrub(line)) },
          },
        ]
      : []),
  ];
  if (also !== undefined)
    streams.push({ level: 'trace', stream: { write: (line: string) => also.line(scrub(line)) } });
  const log =
    streams.length === 0
      ? pino({ level: 'silent' })
      : pino(
          {
            level,
            base: { pid: process.pid },
            redact: { paths: [...redactedPaths], censor: '[secret]' },
            ...(also && { mixin: also.logFields }),
          },
          pino.multistream(streams),
        );
  return {
    log,
    setLevel: (next) => {
      if (streams.length > 0) log.level = next;
    },
    close: () => opened?.close() ?? Promise.resolve(),
  };
}

/**
 * The last look at a line before it is written: whatever has the shape of a secret of ours is taken out,
 * wherever it stands – in a field that no one thought of, in the message of an error, in the output of
 * someone else's program. All our secrets are 32 random bytes in base64url, so they are told by their shape
 * alone; pairing codes are, too.
 */
export function scrub(line: string): string {
  return line
    .replace(bearers, 'Bearer [secret]')
    .replace(cookies, '$1=[secret]')
    .replace(tokens, '[secret]')
    .replace(codes, '[secret]');
}

const bearers = /\bBearer\s+(?!\[secret\])[^\s"\\,;]{8,}/gi;
const cookies = /\b(svc_auth(?:_[\w-]+)?)=[^;\s"\\]+/g;
/** 43 letters of base64url, and neither more nor fewer; those of bindings say so first. */
const tokens = /(?<![\w-])(?:svcw[ek]_)?[\w-]{43}(?![\w-])/g;
const codes = /(?<![\w-])[A-HJ-NP-Z2-9]{4}(?:-[A-HJ-NP-Z2-9]{4}){2}(?![\w-])/g;
