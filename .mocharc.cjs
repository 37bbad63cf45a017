const { readdirSync } = require('node:fs');

// Specs are found by their sources: dist may still hold what a deleted spec left behind, and that must not run.
const all = () =>
  readdirSync('spec', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.spec.ts'))
    .sort()
    .map((name) => `dist/spec/${name.replace(/\.ts$/, '.js')}`);

// Words of the command line that name specs are added by mocha itself: then only those run.
const named = process.argv.slice(2).some((word) => /(?:^|\/)dist\/spec\//.test(word));

module.exports = { spec: named ? [] : all(), timeout: 180_000, forbidOnly: true };
