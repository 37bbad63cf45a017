import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../house/sources.js';
import { apiReport, apiReportFile } from './api-report.js';
import { freshPage } from './made.js';
import { apiTypes, apiTypesFile } from './openapi-types.js';
import { pages, textOf } from './samples.js';

/** `npm run docs`: make what is made from the code again: tables of the guides, types of the client. */
const fresh: Record<string, string> = {
  [apiTypesFile]: await apiTypes(),
  [apiReportFile]: await apiReport(),
};
for (const page of pages) fresh[page] = await freshPage(page);
for (const [file, text] of Object.entries(fresh))
  if (text !== textOf(file)) writeFileSync(join(root, file), text);
