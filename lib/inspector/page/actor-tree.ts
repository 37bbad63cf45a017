import { signal } from '@preact/signals';
import { ask, said } from '../../page/ask.js';
import { addressOf } from '../../page/routing.js';
import { hasMoved } from './moves.js';
import type { ActorSummary, TreePage } from '../answers.js';
import type { InspectEntry } from '../../client/inspector-frames.js';

/**
 * What of the tree of actors is open, as the lines that a list shows. A branch is read when it is opened, a page at
 * a time as its end comes into view; more than a thousand beneath one are folded into thousands, each read when it
 * is opened. Actors that are here follow the feed in place.
 */
export class ActorTree {
  /** Goes up when a line changed. */
  readonly version = signal(0);
  /** Created since: where in the tree they belong, the feed does not say. */
  readonly newcomers = signal(0);
  private readonly actors = new Map<string, ActorNode>();
  private shown: readonly Line[] | undefined;
  private seen: readonly [from: number, to: number] = [0, 0];
  private readonly closing = new AbortController();

  constructor(private readonly roots: readonly Branch[]) {
    const [only] = roots;
    if (roots.length === 1 && only !== undefined) this.toggle(only);
  }

  get lines(): readonly Line[] {
    return (this.shown ??= this.roots.flatMap((root) => [...this.linesOf(root, 1)]));
  }

  close(): void {
    this.closing.abort();
  }

  /** Open what is closed and close what is open. */
  toggle(what: Branch | Group): void {
    what.isOpen = !what.isOpen;
    const group = 'groups' in what ? (what.groups.length === 1 ? what.groups[0] : undefined) : what;
    if (what.isOpen && group !== undefined && group.next === undefined) void this.load(group);
    this.changed();
  }

  /** Lines `from` to `to` can be seen: where the end of a page is among them, the next one is read. */
  want(from: number, to: number): void {
    this.seen = [from, to];
    for (const line of this.lines.slice(from, to))
      if (line.type === 'more' && line.group.error === undefined) void this.load(line.group);
  }

  take(entries: readonly InspectEntry[]): void {
    for (const entry of entries) {
      const node = this.actors.get(`${entry.kind}/${entry.id}`);
      if (node !== undefined && entry.seq > node.actor.seq) {
        const { to: value, seq, at } = entry;
        node.actor = { ...node.actor, value, seq, ...(hasMoved(entry) && { since: at }) };
        this.version.value += 1;
      } else if (node === undefined && entry.from === null) this.newcomers.value += 1;
    }
  }

  /** Read one page more of a thousand. */
  async load(group: Group): Promise<void> {
    if (group.isLoading || isComplete(group)) return;
    group.isLoading = true;
    group.error = undefined;
    this.changed();
    const { kind, id } = group.of;
    const begin = group.next ?? group.begin;
    const path = addressOf(['api', 'inspect', 'tree'], {
      kind,
      ...(id !== undefined && { id }),
      ...(typeof begin === 'string' ? { after: begin } : begin > 0 && { offset: begin }),
      limit: Math.min(pageRows, thousand - group.read),
    });
    try {
      const page = await ask<TreePage>(path, { signal: this.closing.signal });
      this.add(group, page);
    } catch (error) {
      if (this.closing.signal.aborted) return;
      group.error = said(error);
    }
    group.isLoading = false;
    this.changed();
    this.want(...this.seen); // of a page of children that stand elsewhere the list has not grown
  }

  private add(group: Group, { actors, read, next }: TreePage): void {
    group.rows = [...group.rows, ...actors.map((actor) => this.nodeOf(actor))];
    group.read += read;
    group.next = next;
    const { groups } = group.of;
    const isLast = groups.at(-1) === group;
    // How many are beneath an actor is not known before: the thousand that follows this one is there once it is full
    if (group.read >= thousand && next !== null && isLast)
      groups.push({ ...emptyGroup(group.of), from: group.from + thousand, begin: next });
  }

  private nodeOf(actor: TreePage['actors'][number]): ActorNode {
    const { kind, id, hasChildren } = actor;
    const node = { actor, beneath: hasChildren ? branchOf({ kind, id }) : undefined };
    this.actors.set(`${kind}/${id}`, node);
    return node;
  }

  private *linesOf(branch: Branch, level: number): Generator<Line, void, undefined> {
    if (branch.label !== undefined) yield { type: 'kind', branch, level };
    if (branch.label !== undefined && !branch.isOpen) return;
    const inner = branch.label === undefined ? level : level + 1;
    const [only] = branch.groups;
    if (branch.groups.length === 1 && only !== undefined) return yield* this.linesIn(only, inner);
    for (const group of branch.groups) {
      yield { type: 'group', group, level: inner };
      if (group.isOpen) yield* this.linesIn(group, inner + 1);
    }
  }

  private *linesIn(group: Group, level: number): Generator<Line, void, undefined> {
    for (const node of group.rows) {
      yield { type: 'actor', node, level };
      if (node.beneath?.isOpen === true) yield* this.linesOf(node.beneath, level + 1);
    }
    if (!isComplete(group)) yield { type: 'more', group, level };
    else if (group.rows.length === 0) yield { type: 'nothing', group, level };
  }

  private changed(): void {
    this.shown = undefined;
    this.version.value += 1;
  }
}

/** What is beneath a kind or an actor. A kind's has a line of its own. */
export interface Branch {
  readonly kind: string;
  readonly id?: string;
  readonly label?: { readonly total: number };
  readonly groups: Group[];
  isOpen: boolean;
}

/** At most a thousand of a branch, as far as they are read. `next`: undefined before the first page. */
export interface Group {
  readonly of: Branch;
  readonly from: number;
  readonly begin: string | number;
  rows: readonly ActorNode[];
  read: number;
  next: string | null | undefined;
  isOpen: boolean;
  isLoading: boolean;
  error: string | undefined;
}

export interface ActorNode {
  actor: ActorSummary;
  readonly beneath: Branch | undefined;
}

export type Line = { readonly level: number } & (
  | { readonly type: 'kind'; readonly branch: Branch }
  | { readonly type: 'group'; readonly group: Group }
  | { readonly type: 'more'; readonly group: Group }
  | { readonly type: 'nothing'; readonly group: Group }
  | { readonly type: 'actor'; readonly node: ActorNode }
);

/** `branchOf({ kind: 'session', total: 10_000 })`: ten thousands; `branchOf({ kind, id })`: beneath an actor. */
export function branchOf({
  kind,
  id,
  total,
}: {
  readonly kind: string;
  readonly id?: string;
  readonly total?: number;
}): Branch {
  const groups: Group[] = [];
  const branch: Branch = {
    kind,
    ...(id !== undefined && { id }),
    ...(total !== undefined && { label: { total } }),
    groups,
    isOpen: false,
  };
  for (let from = 0; from === 0 || from < (total ?? 0); from += thousand)
    groups.push({ ...emptyGroup(branch), from, begin: from });
  return branch;
}

const emptyGroup = (of: Branch): Omit<Group, 'from' | 'begin'> => ({
  of,
  rows: [],
  read: 0,
  next: undefined,
  isOpen: false,
  isLoading: false,
  error: undefined,
});

const isComplete = ({ next, read }: Group): boolean => next === null || read >= thousand;
export const thousand = 1_000;
const pageRows = 200;
