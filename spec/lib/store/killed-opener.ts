import { openLevelStore } from '../../../lib/store/level.js';

/** As a program: open a home, say so, and stay until someone kills it. */
await openLevelStore({ directory: process.argv[2]!, scrubEveryMs: 0 });
process.stdout.write('open\n');
process.stdin.resume();
setInterval(() => undefined, 60_000);
