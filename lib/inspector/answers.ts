import type { Panel } from '../../actors/panel.js';
import type { ActorKey, Json } from '../../machines/outputs.js';
import type { Chart } from './chart/definition.js';
import type { InspectEntry, InspectRefusal } from '../client/inspector-frames.js';

/**
 * What the routes below `/api/inspect` answer. Types only, so that a browser can import it. Times are epoch
 * ms.
 */

/** `GET /api/inspect/fleet`: cheap however many actors there are. */
export interface Fleet {
  readonly seq: number;
  readonly at: number;
  readonly kinds: readonly {
    readonly kind: string;
    readonly version: number;
    readonly total: number;
    /**
     * By path of the innermost state, `running` or `work.executing`. Of parallel regions each counts for
     * itself.
     */
    readonly states: Readonly<Record<string, number>>;
    readonly halted: number;
  }[];
  /** Since the process began; ask twice and divide for a rate. */
  readonly events: number;
  readonly commits: number;
  readonly restarts: number;
  readonly awake: number;
  readonly effects: number;
  readonly deadLetters: number;
}

/**
 * `GET /api/inspect/actors?kind=&state=&age=&after=&offset=&limit=`: a page after the last one's `next`, or
 * past the first `offset`, by id; with `state` those longest in it come first, and with `age` (seconds) only
 * those who have been in it for so long. `state` is a path as in `Fleet`, or the beginning of some (`work.`),
 * or `halted`.
 */
export interface ActorsPage {
  readonly actors: readonly ActorSummary[];
  readonly next: string | null;
}

export interface ActorSummary extends ActorKey {
  readonly value: Json;
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  readonly rev: number;
  readonly seq: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Since when it is in its state. */
  readonly since: number;
  readonly parent: ActorKey | null;
  readonly halted: { readonly at: number; readonly reason: string } | null;
  /** Effects in flight, by `src`. */
  readonly effects: readonly string[];
  /** The next deadline that will move it. */
  readonly due: number | null;
  /** Why it stands where it stands, where it is halted, failed, blocked or interrupted and its view says so. */
  readonly reason: string | null;
  /** What a person calls it, where the kind's view has a `title` or `name`. */
  readonly title: string | null;
}

/** `GET /api/inspect/actors/:kind/:id`. With `?at=<seq>`: `PastActor`. */
export interface ActorDetail extends ActorSummary {
  readonly version: number;
  /** What the kind shows of it: the record of the API. */
  readonly view: Json;
  /** The machine's context as it stands in the store, secrets blacked out. */
  readonly context: Json;
  readonly meta: {
    readonly kind: string;
    readonly id: string;
    readonly rev: number;
    readonly createdAt: number;
    readonly updatedAt: number;
    readonly parent: ActorKey | null;
    readonly halted: { readonly at: number; readonly reason: string } | null;
  };
  /** Newest hundred. */
  readonly children: readonly (ActorKey & { readonly value: Json; readonly title: string | null })[];
  readonly timers: readonly { readonly name: string; readonly event: string; readonly due: number }[];
  readonly calls: readonly {
    readonly src: string;
    readonly id: string;
    readonly key: string;
    readonly running: boolean;
  }[];
  /** Times of failures that still count. */
  readonly failures: readonly number[];
  /** Events waiting in its inbox. */
  readonly inbox: number;
  readonly deadLetters: number;
  /** Events that `POST …/send` takes from a person now. */
  readonly sendable: readonly string[];
  /** Small views that its kind gives of it; null where the kind gives none. */
  readonly panels: PanelsAnswer | null;
}

export interface PanelsAnswer {
  /** `more`: rows, values, bars, links or characters of it that are not shown. */
  readonly panels: readonly (Panel & { readonly more: number })[];
  /** Panels that are not shown. */
  readonly more: number;
  /** What is wrong with what the kind gave; then there are none. */
  readonly error: string | null;
}

/**
 * `GET /api/inspect/tree?kind=&id=&after=&offset=&limit=`: a page of the actors beneath one (newest first), or
 * without `id` of those of a kind that stand beneath none (by id). A page may be empty and have a `next`.
 */
export interface TreePage {
  readonly actors: readonly (ActorSummary & {
    /** Something stands beneath it. */
    readonly hasChildren: boolean;
  })[];
  /** How many actors were looked at for this page; those of them that are not in it stand beneath another. */
  readonly read: number;
  readonly next: string | null;
}

/** `GET /api/inspect/actors/:kind/:id/work`: how it goes with its effects at this moment. */
export interface Work {
  /** What they said last and is not stored yet: the end of it, and when. From memory: null after a restart. */
  readonly said: { readonly at: number; readonly text: string } | null;
  /** Of a session that waits for a process slot: how many get one before it, plus one. */
  readonly place: number | null;
  /** The worker in which a turn of the session runs; null where it runs in the gateway, or none runs. */
  readonly worker: {
    readonly name: string;
    readonly state: 'serving' | 'draining' | 'earlier';
    readonly pid: number;
    readonly startedAt: number;
    /** Since when the turn is there. */
    readonly since: number;
    /** Resident, without its agents; null where it cannot be known. */
    readonly memoryBytes: number | null;
  } | null;
  /** Processes that they started. `isAlive` is null where it cannot be known, as of one on another machine. */
  readonly processes: readonly {
    readonly pid: number;
    readonly isAlive: boolean | null;
    readonly machine: string | null;
  }[];
}

/** `GET /api/inspect/pulse`: from memory, of the last minute; what happened before `since` is not known. */
export interface Pulse {
  readonly since: number;
  /** Events in each of the last sixty seconds, the present one last. */
  readonly perSecond: readonly number[];
  /** Events a second by kind, over the last five. */
  readonly perKind: Readonly<Record<string, number>>;
  /** How many were refused since `since`; the last twenty of them, oldest first. */
  readonly refused: number;
  readonly refusals: readonly InspectRefusal[];
}

export interface PastActor extends ActorKey {
  readonly seq: number;
  readonly at: number;
  readonly value: Json;
  readonly context: Json;
  readonly view: Json | null;
}

/** `GET /api/inspect/actors/:kind/:id/history?before=&revision=&limit=&diff=1`, newest first. */
export interface History {
  readonly entries: readonly InspectEntry[];
}

/** `GET /api/inspect/actors/:kind/:id/why` */
export interface WhyAnswer {
  readonly next: readonly {
    readonly event: string;
    readonly allowed: boolean;
    readonly refusal?: { readonly code: string; readonly message: string };
    readonly to?: readonly string[];
    readonly needs?: readonly string[];
    /** True where `POST …/send` takes it from a person. */
    readonly sendable: boolean;
    /** What it takes then. */
    readonly schema?: EventSchema;
  }[];
  readonly timers: readonly { readonly event: string; readonly name: string; readonly due: number }[];
  readonly awaits?: Json;
  readonly effects: readonly string[];
  /** What brought it here: the hand (`by`), and who caused it where that is another. Absent: the log is trimmed. */
  readonly last?: {
    readonly position: number;
    readonly at: number;
    readonly event: string;
    readonly by: string;
    readonly onBehalfOf?: readonly string[];
  };
}

/** The members that an event takes, each as JSON Schema. */
export interface EventSchema {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required: readonly string[];
}

/**
 * `GET /api/inspect/causes/:seq`: what led to a log entry, and what came of it, across actors, oldest first.
 */
export interface Causes {
  readonly seq: number;
  /** Position of the first cause that is still in the log. */
  readonly root: number;
  readonly entries: readonly InspectEntry[];
  /** `from` caused `to`: by a message, `together` in one commit, by an effect that ended or a delay that was over. */
  readonly links: readonly {
    readonly from: number;
    readonly to: number;
    readonly how: 'message' | 'together' | 'effect' | 'timer';
  }[];
  /** What people call its actors today, by `kind/id`; those without a title or a name are not in it. */
  readonly titles: Readonly<Record<string, string>>;
  /** There is more than was looked at. */
  readonly truncated: boolean;
}

/** `GET /api/inspect/supervision` */
export interface SupervisionTree {
  readonly at: number;
  readonly root: {
    readonly state: 'booting' | 'running' | 'degraded' | 'draining' | 'stopped';
    readonly subsystems: readonly { readonly name: string; readonly failing: string | null }[];
    /** Kinds whose actors are brought into the lists of a new version, and how far that has come. */
    readonly reindexing: readonly { readonly kind: string; readonly done: number; readonly total: number }[];
    /** Time that only the wall clock claims; nothing is forgotten for it. */
    readonly retentionHeldMs: number;
  };
  readonly kinds: readonly {
    readonly kind: string;
    readonly version: number;
    readonly total: number;
    readonly strategy: 'one_for_one' | 'one_for_all' | 'rest_for_one';
    readonly intensity: number;
    readonly periodSeconds: number;
    readonly restart: 'permanent' | 'transient' | 'temporary';
    readonly backoffMs: number;
    readonly backoffMsMax: number;
    readonly giveUp: 'halt' | 'escalate';
    /** Since the process began. */
    readonly restarts: number;
    /**
     * Actors with failures that still count (at most a hundred), worst first. `until`: backing off till then.
     */
    readonly failing: readonly {
      readonly id: string;
      readonly failures: number;
      readonly lastAt: number;
      readonly until: number | null;
      readonly error: string;
    }[];
    /** At most a hundred. */
    readonly halted: readonly { readonly id: string; readonly at: number; readonly reason: string }[];
  }[];
  /** Engines and connectors as circuits: `closed` works, `half-open` is being tried, `open` does not. */
  readonly circuits: readonly {
    readonly type: 'engine' | 'connector';
    readonly name: string;
    readonly state: 'closed' | 'half-open' | 'open';
    /** The same in a word: an engine that is not installed is `unavailable`, a connector that is switched off `stopped`. */
    readonly status: 'works' | 'starting' | 'failing' | 'stopped' | 'unavailable';
    readonly reason: string | null;
    /** Epoch ms; null where it is not kept. */
    readonly since: number | null;
    /** When it is tried again. */
    readonly nextTry: number | null;
  }[];
}

/** `GET /api/inspect/dead-letters` */
export interface DeadLetters {
  readonly deadLetters: readonly {
    readonly id: string;
    readonly actor: ActorKey;
    readonly at: number;
    readonly event: Json;
    readonly faultId: string;
    readonly error: string;
  }[];
  readonly next: string | null;
}

/**
 * `GET /api/inspect/machines`, and of one: `/api/inspect/machines/:kind` (`.svg` or `Accept: image/svg+xml`
 * for the picture, `?state=` lights states).
 */
export interface Machines {
  readonly machines: readonly {
    readonly kind: string;
    readonly version: number;
    readonly hash: string;
    readonly states: number;
    readonly events: readonly string[];
  }[];
}
export interface MachineAnswer {
  readonly kind: string;
  readonly version: number;
  readonly hash: string;
  readonly chart: Chart;
}
