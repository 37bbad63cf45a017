import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../house/sources.js';
import { freshPage } from './made.js';
import { pages, textOf } from './samples.js';

/** `npm run docs`: make the tables of the guides anew from the code. */
for (const page of pages) {
  const text = await freshPage(page);
  if (text !== textOf(page)) writeFileSync(join(root, page), text);
}
