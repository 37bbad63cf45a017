import type { ActorKey } from '../machines/outputs.js';

/** A value in a panel: shown as text, whatever stands in it. */
export type PanelCell = string | number | boolean | null;

/**
 * A small view that a kind gives of an actor, as data: the inspector draws it on the actor's page. Everything is text
 * and never markup, and what is longer than a page can hold is cut and said to be.
 * @example
 *   const loans: Panel = { type: 'table', title: 'Loans', columns: ['reader', 'days'], rows: [['ann', 12]] };
 */
export type Panel =
  | {
      /** Rows under named columns: at most 12 columns and 100 rows are shown. */
      readonly type: 'table';
      /** The heading, at most 100 characters. */
      readonly title: string;
      /** Names of the columns. */
      readonly columns: readonly string[];
      /** Each as long as `columns`. */
      readonly rows: readonly (readonly PanelCell[])[];
    }
  | {
      /** Named values: at most 50 are shown. */
      readonly type: 'key-values';
      /** The heading, at most 100 characters. */
      readonly title: string;
      /** By name, in this order. */
      readonly values: Readonly<Record<string, PanelCell>>;
    }
  | {
      /** Numbers from 0, side by side: at most 50 are shown. */
      readonly type: 'bars';
      /** The heading, at most 100 characters. */
      readonly title: string;
      /** Written behind each number: `'ms'`. */
      readonly unit?: string | undefined;
      /** A `label` and its `value`; `of`: what a full bar means for this one; else the greatest of all is full. */
      readonly bars: readonly {
        readonly label: string;
        readonly value: number;
        readonly of?: number | undefined;
      }[];
    }
  | {
      /** A text with its line breaks: at most 4,000 characters are shown. */
      readonly type: 'text';
      /** The heading, at most 100 characters. */
      readonly title: string;
      /** The text itself. */
      readonly text: string;
    }
  | {
      /** Ways to other actors and to pages elsewhere: at most 20 are shown. */
      readonly type: 'links';
      /** The heading, at most 100 characters. */
      readonly title: string;
      /** Each with its `label`; `to`: an actor, or an address of http or https. */
      readonly links: readonly { readonly label: string; readonly to: ActorKey | string }[];
    };
