import type { Journal } from './journal.js';
import type { Random } from './random.js';
import { ask, type Answer, type Ask, type Body } from './wire.js';

/**
 * One writer over HTTP. It works on what it made itself, so it knows what every answer must be; what was left
 * unanswered by a kill is its next action again, under the same key.
 */
export interface ItemKnown {
  readonly id: string;
  readonly title: string;
  status: string;
  version: number;
  /** Tags that must stand in the ledger exactly once; `maybe`: asked without a key and never answered. */
  readonly tags: Map<string, 'once' | 'maybe'>;
  /** Approvals that run out: tag → due, epoch ms. */
  readonly approvals: Map<string, number>;
}

export interface SessionKnown {
  readonly id: string;
  readonly parent: string | null;
  /** Tags of messages: each stands in the transcript exactly once. */
  readonly tags: Set<string>;
}

export interface DelegationKnown {
  readonly tag: string;
  readonly workItemId: string;
  readonly sessionId: string;
}

interface Operation extends Ask {
  readonly what: string;
  readonly tag: string;
  done(body: Body): void;
  /** Without a key: what to do when no one knows. */
  unknown?(): void;
  /**
   * Was not done, and cannot be any more: its time has passed while the gateway was down. Such a refusal is
   * right.
   */
  tooLate?(): boolean;
}

export class GatewayWriter {
  readonly items: ItemKnown[] = [];
  /** Those that time moves on: nothing more is done to them. */
  readonly resting: ItemKnown[] = [];
  readonly sessions: SessionKnown[] = [];
  readonly delegations: DelegationKnown[] = [];
  private pending: Operation | undefined;
  private unsure: ItemKnown | undefined;
  private n = 0;

  constructor(
    private readonly writer: number,
    private readonly random: Random,
    private readonly journal: Journal,
  ) {}

  /** False: the answer is unknown, the process is gone. */
  async operation(url: string, token: string): Promise<boolean> {
    if (!(await this.lookAgain(url, token))) return false;
    const again = this.pending !== undefined;
    const operation = this.pending ?? this.invent();
    this.pending = undefined;
    if (again) this.journal.count('asked again');
    const twin =
      operation.key !== undefined && this.random.chance(0.05) ? ask(url, token, operation) : undefined;
    const answer = await ask(url, token, operation);
    if (twin !== undefined) this.compare(operation, answer, await twin);
    return this.take(operation, answer);
  }

  async finish(url: string, token: string): Promise<void> {
    for (let tries = 0; tries < 20; tries += 1) {
      if (this.pending === undefined && this.unsure === undefined) return;
      if (this.pending === undefined) await this.lookAgain(url, token);
      else this.take(this.pending, await ask(url, token, this.pending));
    }
    this.journal.violated(
      'unexpected',
      `writer ${this.writer} got no answer in the last life to ${this.pending?.what}`,
    );
  }

  private take(operation: Operation, answer: Answer): boolean {
    this.pending = undefined;
    if (answer.type === 'unknown') {
      if (operation.key === undefined) operation.unknown?.();
      else this.pending = operation;
      return false;
    }
    if (answer.type === 'refused' && answer.code === 'BAD_REQUEST' && operation.tooLate?.() === true) {
      this.journal.count('asked again too late');
      return true;
    }
    if (answer.type === 'refused') {
      // The writer works on its own actors and knows their state: a refusal means that the store knows
      // another one.
      this.journal.violated(
        'unexpected',
        `${operation.what} ${operation.tag} (${operation.path}) was refused: ${answer.status} ${answer.code} ${answer.message}`,
      );
      return true;
    }
    if (answer.replayed) this.journal.count('answers replayed');
    this.journal.acknowledged(operation.what, operation.tag, answer.body);
    operation.done(answer.body);
    return true;
  }

  /** After an unkeyed action without an answer: what does the item say? */
  private async lookAgain(url: string, token: string): Promise<boolean> {
    const item = this.unsure;
    if (item === undefined) return true;
    const answer = await ask(url, token, { method: 'GET', path: `/api/work-items/${item.id}` });
    if (answer.type === 'unknown') return false;
    this.unsure = undefined;
    if (answer.type === 'refused') this.journal.violated('lost', `work item ${item.id}: ${answer.code}`);
    else note(item, answer.body['workItem'] as Body);
    return true;
  }

  private compare(operation: Operation, one: Answer, other: Answer): void {
    this.journal.count('twins');
    if (one.type !== 'done' || other.type !== 'done') return;
    const ids = [one.body, other.body].map(idIn);
    if (ids[0] !== ids[1])
      this.journal.violated(
        'doubled',
        `${operation.what} ${operation.tag}: twins under one key were answered ${ids.join(' and ')}`,
      );
  }

  private invent(): Operation {
    const { random } = this;
    this.n += 1;
    const tag = `t${this.writer}x${this.n}e`; // no tag is part of another
    const roll = random.next();
    if (this.items.length === 0 || roll < 0.24) return this.create(tag);
    if (roll < 0.68) return this.move(random.pick(this.items), tag);
    if (roll < 0.8) return this.edit(random.pick(this.items), tag);
    if (roll < 0.88) return this.approval(random.pick(this.items), tag);
    if (roll < 0.905) return this.open(tag, null);
    if (this.sessions.length > 0 && roll < 0.925) return this.open(tag, random.pick(this.sessions).id);
    if (this.sessions.length > 0 && roll < 0.98) return this.message(random.pick(this.sessions), tag);
    return this.delegate(tag);
  }

  private create(tag: string): Operation {
    return {
      what: 'work item',
      tag,
      key: tag,
      method: 'POST',
      path: '/api/work-items',
      body: { title: tag, body: 'b'.repeat(100) },
      done: (body) => this.items.push(known(body['workItem'] as Body)),
    };
  }

  private move(item: ItemKnown, tag: string): Operation {
    const status = this.random.pick((edges[item.status] ?? []).filter((to) => to !== item.status));
    const keyed = this.random.chance(0.8);
    return {
      what: 'status change',
      tag,
      key: keyed ? tag : undefined,
      method: 'POST',
      path: `/api/work-items/${item.id}/status`,
      body: { status, note: tag },
      done: (body) => {
        item.tags.set(tag, 'once');
        note(item, body['workItem'] as Body);
      },
      unknown: () => {
        item.tags.set(tag, 'maybe');
        this.unsure = item;
      },
    };
  }

  private edit(item: ItemKnown, tag: string): Operation {
    return {
      what: 'edit',
      tag,
      key: tag,
      method: 'PATCH',
      path: `/api/work-items/${item.id}`,
      body: { body: tag, expectedVersion: item.version },
      done: (body) => note(item, body['workItem'] as Body),
    };
  }

  /** One that runs out by itself. */
  private approval(item: ItemKnown, tag: string): Operation {
    const due = Date.now() + this.random.between(300, 4_000);
    return {
      what: 'approval with a deadline',
      tag,
      key: tag,
      method: 'POST',
      path: `/api/work-items/${item.id}/approval/request`,
      body: { request: tag, expiresAt: new Date(due).toISOString() },
      tooLate: () => Date.now() >= due,
      // Its end changes the version at a moment that the writer cannot know: the item rests from now on.
      done: () => {
        item.approvals.set(tag, due);
        this.items.splice(this.items.indexOf(item), 1);
        this.resting.push(item);
      },
    };
  }

  private open(tag: string, parent: string | null): Operation {
    return {
      what: parent === null ? 'session' : 'child session',
      tag,
      key: tag,
      method: 'POST',
      path: '/api/sessions',
      body: { prompt: tag, engine: this.engine(), ...(parent === null ? {} : { parent }) },
      done: (body) => this.sessions.push({ id: String(body['id']), parent, tags: new Set([tag]) }),
    };
  }

  private message(session: SessionKnown, tag: string): Operation {
    return {
      what: 'message',
      tag,
      key: tag,
      method: 'POST',
      path: `/api/sessions/${session.id}/message`,
      body: { message: tag },
      done: () => {
        session.tags.add(tag);
      },
    };
  }

  private delegate(tag: string): Operation {
    return {
      what: 'delegation',
      tag,
      key: tag,
      method: 'POST',
      path: '/api/delegations',
      body: { task: tag, engine: this.engine() },
      done: (body) =>
        this.delegations.push({
          tag,
          workItemId: String(body['workItemId']),
          sessionId: String(body['sessionId']),
        }),
    };
  }

  private engine(): string {
    return this.random.chance(0.15) ? 'slow' : 'quick';
  }
}

/** Edges that people may take with a note, without an assignee and without bounces. */
const edges: Readonly<Record<string, readonly string[]>> = {
  backlog: ['executing', 'in_review', 'blocked'],
  executing: ['in_review', 'blocked', 'done'],
  in_review: ['blocked', 'done'],
  blocked: ['backlog', 'executing', 'in_review'],
  done: ['backlog'],
};

function known(body: Body): ItemKnown {
  return {
    id: String(body['id']),
    title: String(body['title']),
    status: String(body['status']),
    version: Number(body['version']),
    tags: new Map(),
    approvals: new Map(),
  };
}

function note(item: ItemKnown, body: Body): void {
  item.status = String(body['status']);
  item.version = Number(body['version']);
}

const idIn = (body: Body): string =>
  String((body['workItem'] as Body | undefined)?.['id'] ?? body['id'] ?? body['sessionId'] ?? '');
