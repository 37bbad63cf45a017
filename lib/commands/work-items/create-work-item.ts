import { randomBytes } from 'node:crypto';
import type { App, GatewayActor, GatewayTransaction } from '../app.js';
import { optionsOf, replyWith, type Request, type Reply } from '../request.js';
import { spend } from '../authority/quotas.js';
import { ownRow } from '../iterate.js';
import { callerName, type Caller } from '../../../machines/caller.js';
import type { VerifyPolicy } from '../../../machines/work-item/context.js';
import type { Json } from '../../../machines/outputs.js';
import type { GatewayInput } from '../../../actors/gateway-kinds.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';

/**
 * What a caller may say of a new work item. Who made it and where it comes from is never said but known.
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
  /** 0 to 3; default 2. */
  readonly priority?: number | undefined;
}

/**
 * Mint a work item with the next id (`TRP-12`). The counter and the item are one commit; gaps are legal.
 * Records intent only: no session starts.
 * @example await createWorkItem(request, {title: 'Buy milk'})
 */
export async function createWorkItem(
  request: Request,
  input: WorkItemInput,
  { originKey, closed }: ImportedAs = {},
): Promise<Reply<GatewayActor<'work-item'>> | Refusal> {
  const full = await spend(request, 'items');
  if (full) return full;
  const prefix = await frozenPrefix(request.app);
  let minted: GatewayActor<'work-item'> | undefined;
  const committed = await request.app.supervisor.transact({
    name: 'create-work-item',
    actors: input.parentId == null ? [] : [{ kind: 'work-item', id: input.parentId }],
    ...optionsOf(request),
    run(turns) {
      const place = placeBelow(turns, input.parentId);
      if (isRefusal(place)) return place;
      minted = mintWorkItem(turns, prefix, {
        ...workItemInput(input, request.caller),
        ...place,
      });
      if (input.parentId != null)
        turns.send({ kind: 'work-item', id: input.parentId }, { type: 'child.created', childId: minted.id });
      if (originKey !== undefined) turns.put(originKey, minted.id);
      const end =
        closed === undefined ? minted : turns.send({ kind: 'work-item', id: minted.id }, ends[closed]);
      if (isRefusal(end)) return end;
      minted = end;
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

/** Of an item that was made in another home. */
interface ImportedAs {
  /** Where the plan notes the id: an import finds it there. */
  readonly originKey?: string;
  /** It had come to an end there, and does here in the same commit. */
  readonly closed?: keyof typeof ends | undefined;
}

const ends = {
  done: { type: 'item.move', status: 'done' },
  cancelled: { type: 'item.archive' },
} as const;

/** Where a sub-task hangs: its parent tells. */
function placeBelow(
  turns: GatewayTransaction,
  parentId: string | null | undefined,
): Pick<GatewayInput<'work-item'>, 'parentId' | 'rootId' | 'depth'> | Refusal {
  if (parentId == null) return {};
  const parent = turns.read({ kind: 'work-item', id: parentId });
  if (!parent) return refuse('NOT_FOUND', { kind: 'work-item', id: parentId }, `Todo ${parentId} not found`);
  const { rootId, depth } = parent.view;
  return { parentId, rootId: rootId ?? parentId, depth: depth + 1 };
}

/** Within a plan: take the next number and create the item. */
export function mintWorkItem(
  turns: GatewayTransaction,
  prefix: Prefix,
  input: GatewayInput<'work-item'>,
): GatewayActor<'work-item'> {
  if (!prefix.frozen) turns.put(prefixKey, prefix.value);
  return turns.create('work-item', `${prefix.value}-${turns.next('work-item')}`, { input });
}

export function workItemInput(
  input: WorkItemInput,
  by: Caller,
  source?: { source: string; sourceRef: string },
): GatewayInput<'work-item'> {
  return {
    title: input.title,
    body: input.body ?? null,
    acceptance: input.acceptance ?? null,
    assignee: input.assignee ?? null,
    department: input.department ?? null,
    verifyPolicy: (input.verifyPolicy ?? null) as VerifyPolicy | null,
    source: source?.source ?? (by.type === 'session' ? 'session' : 'human'),
    sourceRef: source?.sourceRef ?? (by.type === 'session' ? sourceRef('session', by.id) : null),
    createdBy: callerName(by),
    ...(input.dueAt != null && { dueAt: input.dueAt }),
    ...(input.labels?.length && { labels: [...input.labels] }),
    ...(input.priority !== undefined && { priority: input.priority }),
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
