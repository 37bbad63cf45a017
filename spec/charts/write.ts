import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { catalogue } from './catalogue.js';
import { freshReadme, hashesPath, hashOf, pictures, readHashes, readmePath, type Hashes } from './pages.js';

/**
 * `npm run charts`: draw the charts again and note the hashes of new versions. A changed machine of an old
 * version is noted only with `--unreleased`, which says: no one has stored actors of this version yet.
 */
writeFileSync(readmePath, freshReadme(readFileSync(readmePath, 'utf8')));
for (const [file, svg] of pictures()) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, svg);
}

const unreleased = process.argv.includes('--unreleased');
const hashes: Record<string, Hashes[string]> = { ...readHashes() };
for (const drawn of catalogue) {
  const known = hashes[drawn.name]?.[String(drawn.version)];
  const hash = hashOf(drawn);
  if (known === undefined || unreleased)
    hashes[drawn.name] = { ...hashes[drawn.name], [String(drawn.version)]: hash };
  else if (known !== hash)
    console.error(`${drawn.name} changed: raise its version and write a migration, or pass --unreleased`);
}
writeFileSync(hashesPath, `${JSON.stringify(hashes, null, 2)}\n`);
