import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { parseBundle, type Bundle } from './bundle.js';

/** Teams that ship with the package, each a bundle: `lib/templates/<name>.yaml`. */
export const templateNames = ['research-team', 'software-team', 'support-team'] as const;

/** `readTemplate('software-team')`; NOT_FOUND with the names that there are. */
export function readTemplate(name: string): Bundle | Refusal {
  // Only names of the list above reach the disk.
  if (!templateNames.some((known) => known === name))
    return refuse(
      'NOT_FOUND',
      { kind: 'template', id: name },
      `There is no template ${JSON.stringify(name)}. There are: ${templateNames.join(', ')}.`,
    );
  const bundle = parseBundle(readFileSync(fileURLToPath(new URL(`${name}.yaml`, folder)), 'utf8'));
  if (isRefusal(bundle)) throw new Error(`The template ${name} cannot be used: ${bundle.message}`);
  return bundle;
}

/** From `dist/lib/records/bundles`, as from the package: the texts are not built. */
const folder = new URL('../../../../lib/templates/', import.meta.url);
