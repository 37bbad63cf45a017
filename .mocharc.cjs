const { readdirSync } = require('node:fs');

// Specs are found by their sources: dist may still hold what a deleted spec left behind, and that must not run.
const spec = readdirSync('spec', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.spec.ts'))
  .sort()
  .map((name) => `dist/spec/${name.replace(/\.ts$/, '.js')}`);

module.exports = { spec, timeout: 60_000, forbidOnly: true };
