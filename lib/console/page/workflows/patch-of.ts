import { createTwoFilesPatch } from 'diff';
import type { WorkflowDefinition } from '../../../../machines/graph/definition.js';
import { client, must } from '../../../page/gateway.js';
import { authoredOf } from './authored.js';
import { textOf } from './document.js';

/** What is different between two texts, line by line; empty: nothing. */
export const patchOf = (before: string, after: string): string =>
  before === after
    ? ''
    : createTwoFilesPatch('before', 'after', before, after, undefined, undefined, { context: 3 })
        .split('\n')
        .slice(4) // the names, which say nothing here
        .join('\n');

/** A stored version as it is read and compared: YAML without its stamps. */
export async function versionText(id: string, version?: number, signal?: AbortSignal): Promise<string> {
  return textOf(authoredOf(await readVersion(id, version, signal)));
}

/** Default: the newest. */
export const readVersion = async (
  id: string,
  version?: number,
  signal?: AbortSignal,
): Promise<WorkflowDefinition> =>
  (await must(
    client.get('/api/workflow-definitions/{id}', {
      params: { path: { id }, query: version === undefined ? {} : { version: String(version) } },
      ...(signal && { signal }),
    }),
  )) as object as WorkflowDefinition;
