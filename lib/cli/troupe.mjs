#!/usr/bin/env -S node --max-semi-space-size=32 --no-incremental-marking-task
// The command's door: a file that is there before anything is built. npx links a checkout's command once and keeps that link for
// good; were it looked for in dist/ while `npm start` still builds, it would not be found, then or ever after.
// Young garbage gets room to die young. Old garbage is marked as memory is asked for, not by tasks: Node runs these one after the
// other until none is left, which holds the event loop for 40 to 80 ms; so it is 12.
try {
  await import('../../dist/command/troupe.js');
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' && !(error instanceof SyntaxError)) throw error;
  process.stderr.write(
    'Troupe is not built yet. Wait until npm start says that it runs, or build it: npm run build\n',
  );
  process.exitCode = 1;
}
