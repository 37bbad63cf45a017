import { randomBytes } from 'node:crypto';
import { asked, doneWith, recordOf, type Asking, type Desk, type Done } from './desk.js';
import { ownRow } from './own-row.js';
import type { ActorView, Turns } from '../supervisor/contract.js';
import { callerName, type Caller } from '../../machines/caller.js';
import type { Json } from '../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/** What a caller may wish of a new work item. Who made it and where it comes from is never wished but known. */
export interface WorkItemWish {
  readonly title: string;
  readonly body?: string | null | undefined;
  readonly acceptance?: string | null | undefined;
  readonly assignee?: string | null | undefined;
  readonly department?: string | null | undefined;
  readonly verifyPolicy?: Json | undefined;
  /** Makes it a sub-task. */
  readonly parentId?: string | null | undefined;
  /** Epoch ms. */
  readonly dueAt?: number | null | undefined;
  readonly labels?: readonly string[] | undefined;
}

/**
 * Mint a work item with the next id (`TRP-12`). The counter and the item are one commit; gaps are legal.
 * Records intent only: no session starts.
 * @example await createWorkItem(desk, {title: 'Buy milk'}, {by: operator})
 */
export async function createWorkItem(desk: Desk, wish: WorkItemWish, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const prefix = await frozenPrefix(desk);
  let minted: ActorView | undefined;
  const committed = await desk.supervisor.transact({
    name: 'create-work-item',
    actors: wish.parentId == null ? [] : [{ kind: 'work-item', id: wish.parentId }],
    ...asked(asking),
    decide(turns) {
      const place = placeBelow(turns, wish.parentId);
      if (isRefusal(place)) return place;
      minted = mintWorkItem(turns, prefix, { ...(workItemInput(wish, asking.by) as Record<string, Json>), ...place });
      if (wish.parentId != null) turns.send({ kind: 'work-item', id: wish.parentId }, { type: 'child.created', childId: minted.id });
      return { id: minted.id };
    },
  });
  if (isRefusal(committed)) return committed;
  if (!asking.dryRun) {
    prefix.frozen = true;
    if (wish.verifyPolicy != null) await desk.reviews?.look();
  }
  const view = committed.replayed || minted === undefined ? await desk.supervisor.get('work-item', committed.result.id) : minted;
  if (!view) return refuse('NOT_FOUND', { kind: 'work-item', id: committed.result.id });
  return doneWith(committed, view);
}

/** Where a sub-task hangs: its parent tells. */
function placeBelow(turns: Turns, parentId: string | null | undefined): Record<string, Json> | Refusal {
  if (parentId == null) return {};
  const parent = turns.read({ kind: 'work-item', id: parentId });
  if (!parent) return refuse('NOT_FOUND', { kind: 'work-item', id: parentId }, `Todo ${parentId} not found`);
  const { rootId, depth } = recordOf(parent);
  return { parentId, rootId: rootId ?? parentId, depth: Number(depth ?? 0) + 1 };
}

/** Within a plan: take the next number and create the item. */
export function mintWorkItem(turns: Turns, prefix: Prefix, input: Json): ActorView {
  if (!prefix.frozen) turns.put(prefixKey, prefix.value);
  return turns.create('work-item', `${prefix.value}-${turns.count('work-item')}`, { input });
}

export function workItemInput(wish: WorkItemWish, by: Caller, source?: { source: string; sourceRef: string }): Json {
  return {
    title: wish.title,
    body: wish.body ?? null,
    acceptance: wish.acceptance ?? null,
    assignee: wish.assignee ?? null,
    department: wish.department ?? null,
    verifyPolicy: wish.verifyPolicy ?? null,
    source: source?.source ?? (by.type === 'session' ? 'session' : 'human'),
    sourceRef: source?.sourceRef ?? (by.type === 'session' ? sourceRef('session', by.id) : null),
    createdBy: callerName(by),
    ...(wish.dueAt != null && { dueAt: wish.dueAt }),
    ...(wish.labels?.length && { labels: [...wish.labels] }),
  };
}

/** `session:<id>:<12 hex>`: says who minted it, and is unique. */
export const sourceRef = (how: 'session' | 'delegate', sessionId: string): string => `${how}:${sessionId}:${randomBytes(6).toString('hex')}`;

const prefixKey = 'work-item/prefix';

export interface Prefix { readonly value: string; frozen: boolean }

const prefixes = new WeakMap<object, Promise<Prefix>>();

/** The prefix of the ids: as stored at first use, else from the settings. Renaming the company later renames no id. */
export function frozenPrefix(desk: Desk): Promise<Prefix> {
  let prefix = prefixes.get(desk.supervisor);
  if (!prefix) {
    prefix = readPrefix(desk);
    prefix.catch(() => prefixes.delete(desk.supervisor)); // a failed read is tried again by the next request
    prefixes.set(desk.supervisor, prefix);
  }
  return prefix;
}

async function readPrefix(desk: Desk): Promise<Prefix> {
  const kept = await ownRow(desk.supervisor, prefixKey);
  if (typeof kept === 'string') return { value: kept, frozen: true };
  const { companyPrefix, companyName } = desk.settings;
  return { value: threeLetters(companyPrefix) ?? threeLetters(companyName) ?? 'TRP', frozen: false };
}

function threeLetters(name: string | undefined): string | undefined {
  const letters = (name ?? '').toUpperCase().replace(/[^A-Z]/g, '').slice(0, 3);
  return letters.length === 3 ? letters : undefined;
}
