import { fileURLToPath } from 'node:url';
import { claudeEngine } from '../../actors/engines/claude/engine.js';
import { codexEngine } from '../../actors/engines/codex/engine.js';
import { commandEngine } from '../../actors/engines/command.js';
import type { Engine } from '../../actors/engines/engine.js';

/** The ways in which agent programs go wrong, and engines whose programs do it at a word. */
export interface Rogue {
  readonly way: string;
  readonly engine: string;
  readonly prompt: string;
  /** Part of the reason that a person reads. */
  readonly reason: RegExp;
}

const peer = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/agents/${name}.js`, import.meta.url));

const shell = (name: string, script: string): Engine =>
  commandEngine({ name, command: ['/bin/sh', '-c', script] });
/** Heeds no polite signal, and says nothing. */
const deaf = 'trap "" INT TERM HUP; while :; do sleep 1; done';

export const rogueEngines: readonly Engine[] = [
  shell('hung', deaf),
  shell('flood', 'head -c 1073741824 /dev/zero | tr "\\0" x; echo'),
  shell('flood-of-lines', 'yes "a line like many others" | head -c 1073741824'),
  // children in groups of their own, that outlive their parent and hold its output
  shell('forking', `for n in 1 2 3 4 5; do setsid sh -c '${deaf}' & done; ${deaf}`),
  shell('forking-and-gone', `for n in 1 2 3 4 5; do setsid sh -c '${deaf}' & done; exit 0`),
  shell('half-line', 'printf "half a li" >&2; kill -9 $$'),
  shell('invalid', 'printf "\\377\\376\\303" >&2; exit 1'),
  shell('silent', 'exit 0'),
  claudeEngine({ bin: process.execPath, args: [peer('claude')] }),
  codexEngine({ bin: process.execPath, args: [peer('codex')] }),
];

const late = /longer than|did not finish|did not end after/;
const none = /without a result/;

/** It ends at its deadline alone: others must reach the fault they are for, however busy the machine is. */
export const endsLate = ({ reason }: Rogue): boolean => reason === late;

export const rogues: readonly Rogue[] = [
  { way: 'hung', engine: 'hung', prompt: 'x', reason: late },
  { way: 'forking', engine: 'forking', prompt: 'x', reason: late },
  {
    way: 'forking and gone',
    engine: 'forking-and-gone',
    prompt: 'x',
    reason: /without a result|longer than/, // ending its children may take it beyond a short deadline
  },
  { way: 'flooding', engine: 'flood', prompt: 'x', reason: /exceeded the output limit/ },
  { way: 'flooding in lines', engine: 'flood-of-lines', prompt: 'x', reason: /exceeded the output limit/ },
  { way: 'half a line', engine: 'half-line', prompt: 'x', reason: /SIGKILL/ },
  { way: 'invalid UTF-8', engine: 'invalid', prompt: 'x', reason: /exited with code 1/ },
  { way: 'exit 0 without a result', engine: 'silent', prompt: 'x', reason: none },
  ...['claude', 'codex'].flatMap((engine): readonly Rogue[] => [
    { way: 'hung', engine, prompt: '[[hang]]', reason: late },
    { way: 'flooding', engine, prompt: '[[flood]]', reason: /a line that does not end/ },
    { way: 'half a line', engine, prompt: '[[half]]', reason: none },
    { way: 'invalid UTF-8', engine, prompt: '[[garbage]]', reason: none },
    { way: 'exit 0 without a result', engine, prompt: '[[exit]]', reason: none },
  ]),
];
