const { readdirSync, statSync } = require('node:fs');
const { join } = require('node:path');

// Specs are found by their sources: dist may still hold what a deleted spec left behind, and that must not run.
const all = () =>
  readdirSync('spec', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.spec.ts'))
    .sort()
    .map((name) => `dist/spec/${name.replace(/\.ts$/, '.js')}`);

// Words of the command line that name specs are added by mocha itself: then only those run.
const named = process.argv.slice(2).some((word) => /(?:^|\/)dist\/spec\//.test(word));

// Imports of `troupe` and the command run the bundle, which the compiler alone leaves as it was.
const bundledAt = statSync('dist/command/package.json', { throwIfNoEntry: false })?.mtimeMs ?? 0;
const newer = ['lib', 'actors', 'machines']
  .map((folder) => join('dist', folder))
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .find((path) => path.endsWith('.js') && statSync(path).mtimeMs > bundledAt);
if (newer !== undefined) {
  const stale = `The bundle in dist/command is older than ${newer}. Build it: npm run build`;
  if (!named) throw new Error(stale);
  process.stderr.write(
    `${stale}\nUntil then specs that import \`troupe\` or run the command test old code.\n`,
  );
}

module.exports = { spec: named ? [] : all(), timeout: 180_000, forbidOnly: true };
