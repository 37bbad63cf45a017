#!/usr/bin/env -S node --max-semi-space-size=64
// The command's door: a file that is there before anything is built. npx links a checkout's command once and keeps that link for
// good; were it looked for in dist/ while `npm start` still builds, it would not be found, then or ever after.
try {
  await import('../../dist/lib/cli/main.js');
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' && !(error instanceof SyntaxError)) throw error;
  process.stderr.write('Troupe is not built yet. Wait until npm start says that it runs, or build it: npm run build\n');
  process.exitCode = 1;
}
