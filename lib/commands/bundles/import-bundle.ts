import { basename } from 'node:path';
import { bundleOf, type Bundle } from '../../records/bundles/bundle.js';
import { judgeFolder, readBundled, writeBundled } from '../../records/bundles/home-files.js';
import type { WholeFile } from '../../records/bundles/session-shape.js';
import { readTemplate, templateNames } from '../../records/bundles/templates.js';
import type { Records } from '../../records/records.js';
import { contentHash } from '../../home/atomic-file.js';
import { parseDefinition } from '../../../machines/graph/read-definition.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { ownRow } from '../iterate.js';
import { inTurn, type Reply, type Request } from '../request.js';
import { noteWriter } from '../knowledge.js';
import { planWorkflow } from '../workflows/plan-workflow.js';
import { readDefinition } from '../workflows/read-workflow.js';
import { createWorkflow, updateWorkflow } from '../workflows/write-workflow.js';
import { authored } from './export-bundle.js';
import { itemHere, originKey, takeItem, type BundledItem } from './item-change.js';
import { takeFile, uploadOrigin } from './file-change.js';
import { judgeFiles } from './judge-files.js';
import { judgeSession, sessionHere, takeSession, type BundledSession } from './session-change.js';

/** One thing of a bundle, and what the import would do with it. */
export interface ImportEntry {
  /** `org/garden/ann.yaml`, `workflow watering`, `work item TRP-12 (under a new id)`, `session …`, `file plan.pdf`. */
  readonly name: string;
  readonly change: 'create' | 'change' | 'same';
  /** Lines, each behind `+`, `-` or a space. */
  readonly diff: readonly string[];
}

/** What an import would do, or has done. */
export interface ImportReport {
  readonly title: string;
  readonly entries: readonly ImportEntry[];
  /** Of all changes: send it back with `apply` to have these done and no others. */
  readonly sha256: string;
  readonly applied: boolean;
}

export interface ImportOptions {
  /** False: preview. */
  readonly apply?: boolean | undefined;
  /** Overwrite what is there and differs. */
  readonly replace?: boolean | undefined;
  /** Of the preview that a person has read. */
  readonly sha256?: string | undefined;
}

/**
 * Takes a bundle into this home, or shows what that would do. All of it is judged before anything is written; an import
 * that a crash has cut goes on when it is repeated, for what is there already is left alone.
 * @example await importBundle(request, records, await readTemplate('software-team'), { apply: true })
 */
export async function importBundle(
  request: Request,
  records: Records,
  given: unknown,
  options: ImportOptions = {},
): Promise<Reply<ImportReport> | Refusal> {
  const bundle = bundleOf(given);
  if (isRefusal(bundle)) return bundle;
  return inTurn(request.app.supervisor, 'bundles', async () => {
    const planned = await planImport(request, records, bundle);
    if (isRefusal(planned)) return planned;
    const { changes, report } = planned;
    if (options.apply !== true) return { body: report };
    if (options.sha256 !== undefined && options.sha256 !== report.sha256)
      return refuse('CONFLICT', {}, 'The import would do something else by now. Preview it again.');
    const differ = report.entries.filter(({ change }) => change === 'change').map(({ name }) => name);
    if (differ.length > 0 && options.replace !== true)
      return refuse(
        'CONFLICT',
        { differ },
        `Already here, and different: ${differ.slice(0, 20).join(', ')}. Nothing was imported; ` +
          'to overwrite, import with replace.',
      );
    for (const { write } of changes) {
      const refusal = await write();
      if (isRefusal(refusal)) return refusal;
    }
    await records.roster.reload();
    return { body: { ...report, applied: true } };
  });
}

/** A template by its name, imported like any other bundle. `await addTemplate(request, records, 'software-team')` */
export async function addTemplate(
  request: Request,
  records: Records,
  name: string,
  options: ImportOptions = {},
): Promise<Reply<ImportReport> | Refusal> {
  const bundle = readTemplate(name);
  return isRefusal(bundle) ? bundle : importBundle(request, records, bundle, options);
}

/** The teams that can be added by name. */
export const listTemplates = () =>
  templateNames.map((name) => {
    const bundle = readTemplate(name);
    if (isRefusal(bundle)) throw new Error(bundle.message); // the names are ours
    const { title, about, files, workflows } = bundle;
    const employees = Object.keys(files)
      .filter((path) => path.startsWith('org/') && !path.endsWith('/department.yaml'))
      .map((path) => basename(path, '.yaml'));
    return { name, title, about, employees, workflows: workflows.map(({ id }) => id) };
  });

interface Change extends ImportEntry {
  readonly write: () => Promise<Refusal | undefined>;
}

async function planImport(
  request: Request,
  records: Records,
  bundle: Bundle,
): Promise<{ readonly changes: readonly Change[]; readonly report: ImportReport } | Refusal> {
  const refusal = await judgeFiles(request.app, records, bundle.files);
  if (refusal) return refusal;
  const planned: (Change | Refusal)[] = [];
  for (const [path, text] of Object.entries(bundle.files))
    planned.push(await fileChange(request, records, path, text));
  for (const workflow of bundle.workflows) planned.push(await workflowChange(request, workflow));
  for (const item of bundle.items ?? []) planned.push(await itemChange(request, item));
  for (const file of bundle.uploads ?? []) planned.push(await uploadChange(request, records, file));
  for (const session of bundle.sessions ?? []) planned.push(await sessionChange(request, records, session));
  const twice = namedTwice(planned);
  if (twice !== undefined) return refuse('BAD_REQUEST', { name: twice }, `The bundle holds ${twice} twice.`);
  const refused = planned.find(isRefusal);
  if (refused) return refused;
  const changes = planned.filter((change): change is Change => !isRefusal(change));
  const entries = changes.map(({ name, change, diff }) => ({ name, change, diff }));
  return {
    changes: changes.filter(({ change }) => change !== 'same'),
    report: { title: bundle.title, entries, sha256: contentHash(JSON.stringify(entries)), applied: false },
  };
}

/** Each thing is judged by what is here: twice in one bundle, both would be made. */
function namedTwice(planned: readonly (Change | Refusal)[]): string | undefined {
  const names = planned.flatMap((change) => (isRefusal(change) ? [] : change.name));
  return names.find((name, index) => names.indexOf(name) !== index);
}

async function fileChange(
  request: Request,
  records: Records,
  path: string,
  text: string,
): Promise<Change | Refusal> {
  const { folders } = records;
  const before = (await judgeFolder(folders.home, path)) ?? (await readBundled(folders.home, path));
  if (isRefusal(before)) return before;
  return {
    name: path,
    ...compared(before, text),
    write: async () => {
      const refusal = await writeBundled(folders.home, path, text, before);
      if (refusal === undefined && path.startsWith('knowledge/')) await noteWriter(request, records, path);
      return refusal;
    },
  };
}

async function workflowChange(
  request: Request,
  definition: Bundle['workflows'][number],
): Promise<Change | Refusal> {
  const { id } = definition;
  const plan = await planWorkflow(request.app, { definition });
  if (isRefusal(plan)) return plan;
  if (!plan.ok)
    return refuse(
      'WORKFLOW_INVALID',
      { errors: plan.validation.errors },
      `The workflow ${id} is unusable: ${plan.validation.errors[0]?.message ?? 'it has a fault'}`,
    );
  const stored = await readDefinition(request.app, id);
  if (isRefusal(stored) && stored.code !== 'NOT_FOUND') return stored;
  const before = isRefusal(stored) ? undefined : authored(stored);
  const after = authored(parseDefinition(definition, { stamp: { id } }).definition);
  const text = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value, null, 2));
  return {
    name: `workflow ${id}`,
    ...compared(text(before), text(after) ?? ''),
    write: async () => {
      const written = isRefusal(stored)
        ? await createWorkflow(request, { definition })
        : await updateWorkflow(request, id, { patch: after, expectedVersion: stored.version });
      return isRefusal(written) ? written : undefined;
    },
  };
}

/** What is here already stays as it is: it has a life of its own. */
async function itemChange(request: Request, item: BundledItem): Promise<Change | Refusal> {
  const here = await itemHere(request, item);
  const name = `work item ${item.id}`;
  if (here !== undefined)
    return {
      name: `${name} (${here === item.id ? '' : `here ${here}; `}stays as it is here)`,
      change: 'same',
      diff: [],
      write: done,
    };
  const judged = await takeItem(request, item, { dryRun: true });
  if (isRefusal(judged)) return refuse(judged.code, judged.details, `${name}: ${judged.message}`);
  const { id: _id, createdAt: _at, status: _status, ...words } = item;
  return {
    name: `${name} (under a new id)`,
    ...compared(undefined, JSON.stringify(words, null, 2)),
    write: async () => {
      const taken = await takeItem(request, item, { dryRun: false });
      return isRefusal(taken) ? taken : undefined;
    },
  };
}

/** What is here already stays as it is, also when it was erased or deleted since. */
async function sessionChange(
  request: Request,
  records: Records,
  session: BundledSession,
): Promise<Change | Refusal> {
  const here = await sessionHere(request, session);
  const judged = judgeSession(session, here);
  const name = `session ${session.id}`;
  if (isRefusal(judged)) return refuse(judged.code, judged.details, `${name}: ${judged.message}`);
  const place = here === undefined ? 'under a new id' : `here ${here.id}`;
  if (judged === 'same')
    return { name: `${name} (${place}; stays as it is)`, change: 'same', diff: [], write: done };
  const { messages, attachments = [], title, employee, costUsd = 0 } = session;
  const sent = attachments.flatMap(({ content }) => (content === undefined ? [] : [content]));
  const kib = (texts: readonly string[], share = 1): string =>
    `${Math.ceil((texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) * share) / 1024)} KiB`;
  const lines = [
    `title: ${title}`,
    ...(employee === undefined ? [] : [`employee: ${employee}`]),
    `messages: ${messages.length} (${kib(messages.map((message) => JSON.stringify(message)))})`,
    `attachments: ${sent.length} (${kib(sent, 3 / 4)}), and ${attachments.length - sent.length} by name alone`,
    `cost: ${costUsd.toFixed(2)} USD`,
    `sha256: ${contentHash(JSON.stringify(session))}`,
  ];
  return {
    name: `${name} (${place})`,
    ...compared(undefined, lines.join('\n')),
    write: async () => {
      const taken = await takeSession(request, records, session);
      return isRefusal(taken) ? taken : undefined;
    },
  };
}

/** A file of no session: once, also when it was removed since. */
async function uploadChange(request: Request, records: Records, file: WholeFile): Promise<Change | Refusal> {
  const name = `file ${file.name} (${file.sha256.slice(0, 12)})`;
  const bytes = Buffer.from(file.content, 'base64');
  if (contentHash(bytes) !== file.sha256)
    return refuse('BAD_REQUEST', { path: 'uploads' }, `${file.name} is not what its hash says.`);
  const origin = uploadOrigin(file);
  if (typeof (await ownRow(request.app.supervisor, originKey('file', origin))) === 'string')
    return { name, change: 'same', diff: [], write: done };
  return {
    name,
    ...compared(undefined, `size: ${bytes.length} bytes\nsha256: ${file.sha256}`),
    write: async () => {
      const taken = await takeFile(request, records, file, { sessionId: null, origin });
      return isRefusal(taken) ? taken : undefined;
    },
  };
}

const done = (): Promise<undefined> => Promise.resolve(undefined);

const compared = (before: string | undefined, after: string): Pick<ImportEntry, 'change' | 'diff'> =>
  before === after
    ? { change: 'same', diff: [] }
    : { change: before === undefined ? 'create' : 'change', diff: lineDiff(before ?? '', after) };

/**
 * The difference of two texts as one hunk: what they begin and end with alike is left out, but for a line or two
 * beside it. Enough to read what an import would change.
 * @example lineDiff('a\nb\nc', 'a\nx\nc') // [' a', '-b', '+x', ' c']
 */
function lineDiff(before: string, after: string): readonly string[] {
  const old = linesOf(before);
  const fresh = linesOf(after);
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const marked = (mark: string, lines: readonly string[]) => lines.map((line) => `${mark}${line}`);
  return [
    ...marked(' ', old.slice(Math.max(0, head - contextLines), head)),
    ...marked('-', old.slice(head, old.length - tail)),
    ...marked('+', fresh.slice(head, fresh.length - tail)),
    ...marked(' ', old.slice(old.length - tail, old.length - tail + contextLines)),
  ];
}

const contextLines = 2;
const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
