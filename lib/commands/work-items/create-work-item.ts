import { randomBytes } from 'node:crypto';
import { optionsOf, replyWith, recordOf, type Request, type App, type Reply } from '../app.js';
import { spend } from '../authority/quotas.js';
import { ownRow } from '../iterate.js';
import type { ActorView, TransactionContext } from '../../supervisor/contract.js';
import { callerName, type Caller } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';

/**
 * What a caller may wish of a new work item. Who made it and where it comes from is never wished but known.
 */
export interface WorkItemInput {
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
 * @example await createWorkItem(request, {title: 'Buy milk'})
 */
export async function createWorkItem(
  request: Request,
  input: WorkItemInput,
): Promise<Reply<ActorView> | Refusal> {
  const full = await spend(request, 'items');
  if (full) return full;
  const prefix = await frozenPrefix(request.app);
  let minted: ActorView | undefined;
  const committed = await request.app.supervisor.transact({
    name: 'create-work-item',
    actors: input.parentId == null ? [] : [{ kind: 'work-item', id: input.parentId }],
    ...optionsOf(request),
    run(turns) {
      const place = placeBelow(turns, input.parentId);
      if (isRefusal(place)) return place;
      minted = mintWorkItem(turns, prefix, {
        ...(workItemInput(input, request.caller) as Record<string, Json>),
        ...place,
      });
      if (input.parentId != null)
        turns.send({ kind: 'work-item', id: input.parentId }, { type: 'child.created', childId: minted.id });
      return { id: minted.id };
    },
  });
  if (isRefusal(committed)) return committed;
  if (!request.dryRun) {
    prefix.frozen = true;
    if (input.verifyPolicy != null) await request.app.reviews?.poll(request.app);
  }
  const view =
    committed.replayed || minted === undefined
      ? await request.app.supervisor.get('work-item', committed.result.id)
      : minted;
  if (!view) return refuse('NOT_FOUND', { kind: 'work-item', id: committed.result.id });
  return replyWith(committed, view);
}

/** Where a sub-task hangs: its parent tells. */
function placeBelow(
  turns: TransactionContext,
  parentId: string | null | undefined,
): Record<string, Json> | Refusal {
  if (parentId == null) return {};
  const parent = turns.read({ kind: 'work-item', id: parentId });
  if (!parent) return refuse('NOT_FOUND', { kind: 'work-item', id: parentId }, `Todo ${parentId} not found`);
  const { rootId, depth } = recordOf(parent);
  return { parentId, rootId: rootId ?? parentId, depth: Number(depth ?? 0) + 1 };
}

/** Within a plan: take the next number and create the item. */
export function mintWorkItem(turns: TransactionContext, prefix: Prefix, input: Json): ActorView {
  if (!prefix.frozen) turns.put(prefixKey, prefix.value);
  return turns.create('work-item', `${prefix.value}-${turns.next('work-item')}`, { input });
}

export function workItemInput(
  input: WorkItemInput,
  by: Caller,
  source?: { source: string; sourceRef: string },
): Json {
  return {
    title: input.title,
    body: input.body ?? null,
    acceptance: input.acceptance ?? null,
    assignee: input.assignee ?? null,
    department: input.department ?? null,
    verifyPolicy: input.verifyPolicy ?? null,
    source: source?.source ?? (by.type === 'session' ? 'session' : 'human'),
    sourceRef: source?.sourceRef ?? (by.type === 'session' ? sourceRef('session', by.id) : null),
    createdBy: callerName(by),
    ...(input.dueAt != null && { dueAt: input.dueAt }),
    ...(input.labels?.length && { labels: [...input.labels] }),
  };
}

/** `session:<id>:<12 hex>`: says who minted it, and is unique. */
export const sourceRef = (how: 'session' | 'delegate', sessionId: string): string =>
  `${how}:${sessionId}:${randomBytes(6).toString('hex')}`;

const prefixKey = 'work-item/prefix';

export interface Prefix {
  readonly value: string;
  frozen: boolean;
}

const prefixes = new WeakMap<object, Promise<Prefix>>();

/**
 * The prefix of the ids: as stored at first use, else from the settings. Renaming the company later renames
 * no id.
 */
export function frozenPrefix(app: App): Promise<Prefix> {
  let prefix = prefixes.get(app.supervisor);
  if (!prefix) {
    prefix = readPrefix(app);
    prefix.catch(() => prefixes.delete(app.supervisor)); // a failed read is tried again by the next request
    prefixes.set(app.supervisor, prefix);
  }
  return prefix;
}

async function readPrefix(app: App): Promise<Prefix> {
  const kept = await ownRow(app.supervisor, prefixKey);
  if (typeof kept === 'string') return { value: kept, frozen: true };
  const { companyPrefix, companyName } = app.settings;
  return { value: threeLetters(companyPrefix) ?? threeLetters(companyName) ?? 'TRP', frozen: false };
}

function threeLetters(name: string | undefined): string | undefined {
  const letters = (name ?? '')
    .toUpperCase()
    .replace(/[^A-Z]/g, '')
    .slice(0, 3);
  return letters.length === 3 ? letters : undefined;
}
