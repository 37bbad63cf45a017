import { startChild } from '../../../actors/engines/process.js';

/**
 * A process that starts an agent, writes its notes to stdout (in place of a store) and then only waits to be
 * killed. Arguments: the last note that it lives to write (`intent` or `pid`), and the spawn id.
 */
const [, , lastNote, spawnId = 'doomed'] = process.argv;
const stubborn = 'trap "" INT TERM; while :; do sleep 1; done';

void startChild('/bin/sh', ['-c', `setsid sh -c '${stubborn}' & ${stubborn}`], {
  cwd: '/',
  env: {},
  spawnId,
  tokenHash: 'hash',
  silenceMs: 9e5,
  deadlineMs: 9e5,
  signal: new AbortController().signal,
  note(note) {
    // It dies before the pid reaches the store
    const isLost = lastNote === 'intent' && note.pid !== undefined;
    process.stdout.write(`${JSON.stringify(isLost ? { started: true } : note)}\n`);
    return isLost ? new Promise(() => undefined) : Promise.resolve();
  },
});
