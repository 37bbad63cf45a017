import type { Bundle } from '../../records/bundles/bundle.js';
import { listBundled, readBundled } from '../../records/bundles/home-files.js';
import type { Records } from '../../records/records.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { Request } from '../request.js';
import { listWorkflows, readDefinition } from '../workflows/read-workflow.js';
import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import { sessionBundle } from './bundled-session.js';
import { bundledItem } from './item-change.js';
import { withoutSecrets } from './without-secrets.js';

/** What can be exported: the company, or one employee, workflow, work item or session by its name or id. */
export type ExportWhat = 'company' | 'employee' | 'workflow' | 'item' | 'session';

export interface Exported {
  readonly bundle: Bundle;
  /** How many values of the form of a key were replaced by `[secret]`. */
  readonly secretsRemoved: number;
}

/**
 * Employees, skills, knowledge and workflows of this home, or a session, as a bundle that another home can import. Keys
 * are taken out. Of a work item goes what was asked for, not what became of it. Settings are not in it.
 * @example await exportBundle(request, records, 'employee', 'ann')
 */
export async function exportBundle(
  request: Request,
  records: Records,
  what: ExportWhat,
  name: string,
): Promise<Exported | Refusal> {
  if (what === 'session') return sessionBundle(request, records, name);
  const paths = await pathsOf(records, what, name);
  if (isRefusal(paths)) return paths;
  const workflows = await workflowsOf(request, what, name);
  if (isRefusal(workflows)) return workflows;
  const item = what === 'item' ? await bundledItem(request, name) : undefined;
  if (isRefusal(item)) return item;
  const { home } = records.folders;
  const files: Record<string, string> = {};
  for (const path of paths) {
    const text = await readBundled(home, path);
    if (typeof text === 'string') files[path] = text;
  }
  const title = what === 'company' ? request.app.settings.companyName || 'Company' : name;
  const { value, removed } = withoutSecrets({ files, workflows, ...(item && { items: [item] }) });
  const redact = request.app.redact ?? (<Value>(whole: Value) => whole);
  return { bundle: redact({ troupe: 1, title, about: '', ...value }), secretsRemoved: removed };
}

type FilesWhat = Exclude<ExportWhat, 'session'>;

async function pathsOf({ folders, roster }: Records, what: FilesWhat, name: string) {
  if (what === 'workflow' || what === 'item') return [];
  if (what === 'company')
    return (
      await Promise.all(['org', 'skills', 'knowledge'].map((folder) => listBundled(folders.home, folder)))
    ).flat();
  const member = roster.named(name);
  if (member === undefined)
    return refuse(
      'NOT_FOUND',
      { kind: 'employee', id: name },
      `There is no employee ${JSON.stringify(name)}.`,
    );
  const path = `org/${member.person.department}/${name}.yaml`;
  const own = await readBundled(folders.home, path);
  if (typeof own === 'string') return [path];
  return refuse(
    'CONFLICT',
    { path },
    `${name} is written in a file of another name or department than its own. Rename it to ${path} first.`,
  );
}

async function workflowsOf(
  { app }: Request,
  what: FilesWhat,
  name: string,
): Promise<Bundle['workflows'] | Refusal> {
  if (what === 'employee' || what === 'item') return [];
  if (what === 'workflow') {
    const definition = await readDefinition(app, name);
    return isRefusal(definition) ? definition : [authored(definition)];
  }
  if (app.evidence === undefined) return [];
  const { definitions } = await listWorkflows(app);
  const found: Bundle['workflows'] = [];
  for (const row of definitions) {
    const definition = await readDefinition(app, String((row as { id?: unknown }).id));
    if (!isRefusal(definition) && definition.status !== 'retired') found.push(authored(definition));
  }
  // The list is by time of change, which another home would not share
  return found.sort((one, other) => (one.id < other.id ? -1 : 1));
}

/**
 * A definition as its author would write it: without what a home stamps on it, and in every home the same.
 * @example authored(stored) // { id: 'watering', title: 'Watering', nodes: […], edges: […] }
 */
export function authored(definition: WorkflowDefinition): Readonly<Record<string, unknown>> & { id: string } {
  const {
    version: _version,
    createdBy: _by,
    createdAt: _created,
    updatedAt: _updated,
    ...written
  } = definition;
  return written;
}
