import { contentHash } from '../../home/atomic-file.js';
import type { Bundle } from '../../records/bundles/bundle.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { ownRow } from '../iterate.js';
import type { Request } from '../request.js';
import { createWorkItem } from '../work-items/create-work-item.js';

/** A work item of a bundle. Ids are each home's own: it gets a new one here, and the home remembers of which it is. */
export type BundledItem = NonNullable<Bundle['items']>[number];

/**
 * What an item was asked for: its words, without what became of it here.
 * @example await bundledItem(request, 'TRP-12') // { id: 'TRP-12', createdAt: '2026-…', title: 'Water the plants', … }
 */
export async function bundledItem({ app }: Request, id: string): Promise<BundledItem | Refusal> {
  const item = await app.supervisor.get('work-item', id);
  if (item === undefined)
    return refuse('NOT_FOUND', { kind: 'work-item', id }, `There is no work item ${id}.`);
  const { title, body, acceptance, department, assignee, dueAt, labels, createdAt, status } = item.view;
  const said = { body, acceptance, department, assignee, dueAt };
  const kept = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null));
  return { id, createdAt, status, title, ...kept, ...(labels.length > 0 && { labels: [...labels] }) };
}

/** Where an item of a bundle is in this home already; undefined: nowhere. */
export async function itemHere({ app }: Request, item: BundledItem): Promise<string | undefined> {
  const own = await app.supervisor.get('work-item', item.id);
  if (own?.view.createdAt === item.createdAt) return item.id; // it comes back to where it was made
  const here = await ownRow(app.supervisor, originKey('work-item', item));
  return typeof here === 'string' ? here : undefined;
}

/** Makes the item, and notes of which it is in the same commit; with `dryRun`, says only whether it could be made. */
export async function takeItem(
  request: Request,
  item: BundledItem,
  { dryRun }: { readonly dryRun: boolean },
): Promise<string | Refusal> {
  const { app, caller, onBehalfOf } = request;
  const { id: _id, createdAt: _at, status: _status, closed, dueAt, ...words } = item;
  const made = await createWorkItem(
    { app, caller, ...(onBehalfOf && { onBehalfOf }), dryRun },
    { ...words, ...(dueAt !== undefined && { dueAt: Date.parse(dueAt) }) },
    { originKey: originKey('work-item', item), closed },
  );
  return isRefusal(made) ? made : made.body.id;
}

/**
 * Under which row the home remembers what it made of a thing of another home. Ids are each home's own; an id and the
 * time of its making name a thing of any.
 * @example originKey('work-item', { id: 'TRP-12', createdAt: '2026-11-24T09:00:00.000Z' })
 */
export const originKey = (
  kind: 'work-item' | 'session' | 'file',
  { id, createdAt }: { readonly id: string; readonly createdAt: string },
): string => `imported/${kind}/${contentHash(`${id} ${createdAt}`).slice(0, 32)}`;
