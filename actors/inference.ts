// A list of kinds mixes machines, views and codes: only `any` takes them all, as XState's own AnyStateMachine does
// oxlint-disable typescript/no-explicit-any
import type {
  AnyStateMachine,
  EmittedFrom,
  EventFromLogic,
  InputFrom,
  OutputFrom,
  SnapshotFrom,
  StateMachine,
} from 'xstate';
import type { EventObject, Json, WriteRow } from '../machines/outputs.js';
import type { Refusal, RefusalCode } from '../machines/refusals.js';
import type { AnyRows, Effect, IndexRow, Kind, Unstamped } from './contracts.js';

/**
 * What the compiler reads off a definition and carries to every call: events, input, snapshot, view, rows and
 * refusals of a kind. Types only. They are spelled out instead of nested, because they are what a host reads in
 * the compiler's messages: `"add" | "reset"`, never the type of a whole machine.
 */

/** A kind of whatever machine and view. */
export type AnyKind = Kind<any, any, any, any, any>;
/** A list of kinds, as `createSupervisor` takes it. */
export type AnyKinds = readonly AnyKind[];

/** The kind of that name among several. */
export type KindNamed<Kinds extends AnyKinds, Name extends string> = {
  [K in Kinds[number] as K['kind']]: K;
}[Name];

/** An event as a caller sends it: what the kernel stamps is not the caller's to give. */
export type EventOf<K extends AnyKind> =
  IsAny<EventFromLogic<K['machine']>> extends true ? EventObject : Unstamped<EventFromLogic<K['machine']>>;

/** The input as a caller gives it: without the id, which has a place of its own, and without the stamp. */
export type InputOf<K extends AnyKind> = Unstamped<InputFrom<K['machine']>, 'id'>;

/** `input`, required where the machine requires one. */
export type InputOption<Input> =
  IsAny<Input> extends true
    ? { readonly input?: Json }
    : unknown extends Input
      ? { readonly input?: Json }
      : {} extends Input
        ? { readonly input?: Input }
        : { readonly input: Input };

/** XState's snapshot of an actor of this kind. */
export type SnapshotOf<K extends AnyKind> = SnapshotFrom<K['machine']>;
export type StateValueOf<K extends AnyKind> = SnapshotOf<K>['value'];
/** What the view of this kind answers. */
export type ViewOf<K extends AnyKind> = ReturnType<K['view']>;

/** Refusals of a kind: the kernel's codes, and the kind's own. */
export type RefusalOf<K extends AnyKind> = Refusal<RefusalCode | OwnCodeOf<K>>;
export type OwnCodeOf<K extends AnyKind> = K extends Kind<any, any, any, any, infer Code> ? Code : never;

/**
 * Rows by collection, as the machine says it writes them (`setup({types: {emitted}})`). A machine that does not
 * say may have any collection.
 */
export type RowsOf<K extends AnyKind> = RowsOfMachine<K['machine']>;
type RowsOfMachine<Machine extends AnyStateMachine> = string extends EmittedFrom<Machine>['type']
  ? AnyRows
  : {
      readonly [Row in EmittedFrom<Machine> as Row extends WriteRow ? Row['collection'] : never]: RowIn<Row>;
    };
type RowIn<Written> = Written extends { readonly row: infer Row }
  ? unknown extends Row
    ? Json
    : NonNullable<Row>
  : never;

/** The rows of a list that the kind's `index` makes. */
export type ListRowOf<K extends AnyKind, List extends string> = ListedIn<ListedBy<K>, List>;
type ListedIn<Listed, List> = Listed extends { readonly index: infer Index }
  ? string extends Index
    ? RowOf<Listed>
    : List extends Index
      ? RowOf<Listed>
      : never
  : never;
type RowOf<Listed> = Listed extends { readonly row: infer Row } ? Row : Json;
export type ListNameOf<K extends AnyKind> = ListedBy<K>['index'];
type ListedBy<K extends AnyKind> =
  K extends Kind<any, any, any, infer List extends IndexRow, any> ? List : never;

/**
 * The effects that a machine needs: one for each that `setup({actors})` names, but for those that are
 * child kinds, with its input and its answer.
 */
export type EffectsOption<Machine extends AnyStateMachine, Child extends string> = [
  Exclude<SrcOf<ActorsOf<Machine>>, Child>,
] extends [never]
  ? { readonly effects?: Readonly<Record<string, string extends Child ? Effect : never>> }
  : string extends SrcOf<ActorsOf<Machine>>
    ? { readonly effects?: Readonly<Record<string, Effect>> }
    : {
        // As EffectsOf, in full: a name would hide in the compiler's messages what is missing
        readonly effects: {
          readonly [Actor in ActorsOf<Machine> as Exclude<SrcOf<Actor>, Child>]: Effect<
            InputFrom<Actor['logic']>,
            OutputFrom<Actor['logic']>,
            RowsOfMachine<Machine>,
            EventFromLogic<Machine>
          >;
        };
      };

/** The effects of a machine by `src`, for a function that makes a kind of them. */
export type EffectsOf<Machine extends AnyStateMachine, Child extends string = never> = {
  readonly [Actor in ActorsOf<Machine> as Exclude<SrcOf<Actor>, Child>]: Effect<
    InputFrom<Actor['logic']>,
    OutputFrom<Actor['logic']>,
    RowsOfMachine<Machine>,
    EventFromLogic<Machine>
  >;
};

type ActorsOf<Machine> =
  Machine extends StateMachine<any, any, any, infer Actor, any, any, any, any, any, any, any, any, any, any>
    ? Actor
    : never;
// A machine in `setup({actors})` stands for a child kind
type SrcOf<Actor> =
  IsAny<Actor> extends true
    ? string
    : Actor extends { readonly src: infer Src extends string; readonly logic: infer Logic }
      ? Logic extends AnyStateMachine
        ? never
        : Src
      : never;
type IsAny<Type> = 0 extends 1 & Type ? true : false;
