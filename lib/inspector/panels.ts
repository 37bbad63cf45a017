import { z } from 'zod';
import type { Panel, PanelCell } from '../../actors/panel.js';
import type { ActorKey } from '../../machines/outputs.js';
import type { Supervisor } from '../supervisor/contract.js';
import type { PanelsAnswer } from './answers.js';
import { blackedOut, isSecretive } from './redact.js';

/**
 * The panels of a kind, checked and cut. A kind is code of a host: whatever it answers or throws costs the viewer its
 * panels and no more, and the page says what is wrong with them. Null where the kind has none.
 */
export async function panelsOf(supervisor: Supervisor, actor: ActorKey): Promise<PanelsAnswer | null> {
  try {
    const given = await supervisor.inspection.panels(actor);
    return given === undefined ? null : checkPanels(given);
  } catch (error) {
    return faulty(`panels() threw ${String(error)}`);
  }
}

/** `checkPanels([{type: 'text', title: 'Note', text: 'Hi'}])`; what is wrong is named by its path. */
export function checkPanels(given: unknown): PanelsAnswer {
  const read = panels.safeParse(given);
  if (!read.success) {
    const [{ path, message } = { path: [], message: '' }] = read.error.issues;
    return faulty(`${z.core.toDotPath(['panels', ...path])} ${message}`);
  }
  const list = given as readonly Panel[]; // it has just been found to be
  return {
    panels: read.data.map((panel, n) => ({ ...withoutSecrets(panel), more: moreOf(list[n] as Panel) })),
    more: Math.max(0, list.length - panelsMax),
    error: null,
  };
}

const faulty = (error: string): PanelsAnswer => ({ panels: [], more: 0, error: cut(error, 300) });

const panelsMax = 8;
const columnsMax = 12;
const titleMax = 100;
const cellMax = 300;
const textMax = 4_000;
const mostOf = { table: 100, 'key-values': 50, bars: 50, links: 20 } as const;

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)} …` : text);

/** What is over is not even looked at: it may be a million rows. */
const firstOf = <Element extends z.ZodType>(element: Element, max: number) =>
  z.preprocess(
    (list) => (Array.isArray(list) ? list.slice(0, max) : list),
    z.array(element, 'must be an array'),
  );
const textOf = (max: number) => z.string('must be a text').transform((text) => cut(text, max));

const title = textOf(titleMax);
const number = z.number('must be a finite number');
const amount = number.min(0, 'must not be negative');
const cell = z.union(
  [textOf(cellMax), number, z.boolean(), z.null()],
  'must be a text, a finite number, a boolean or null',
);
const targets = 'must be an actor as {kind, id}, or an address of http or https';
const target = z.union(
  [
    z.strictObject({ kind: z.string().max(64), id: z.string().max(1_000) }),
    z
      .string()
      .max(2_000)
      .refine((text) => ['http:', 'https:'].includes(protocolOf(text)), targets),
  ],
  targets,
);

const table = z
  .strictObject({
    type: z.literal('table'),
    title,
    columns: firstOf(textOf(titleMax), columnsMax),
    rows: firstOf(firstOf(cell, columnsMax), mostOf.table),
  })
  .superRefine(({ columns, rows }, { addIssue }) => {
    const wrong = rows.findIndex((row) => row.length !== columns.length);
    if (wrong >= 0)
      addIssue({
        code: 'custom',
        path: ['rows', wrong],
        message: `must have ${columns.length} cells, one for each column`,
      });
  });
const keyValues = z.strictObject({
  type: z.literal('key-values'),
  title,
  values: z.preprocess(
    (values) =>
      typeof values === 'object' && values !== null && !Array.isArray(values)
        ? Object.fromEntries(Object.entries(values).slice(0, mostOf['key-values']))
        : values,
    z.record(z.string(), cell, 'must be an object'),
  ),
});
const bar = z.strictObject({ label: textOf(titleMax), value: amount, of: amount.optional() });
const bars = z.strictObject({
  type: z.literal('bars'),
  title,
  unit: textOf(20).optional(),
  bars: firstOf(bar, mostOf.bars),
});
const text = z.strictObject({ type: z.literal('text'), title, text: textOf(textMax) });
const link = z.strictObject({ label: textOf(titleMax), to: target });
const links = z.strictObject({ type: z.literal('links'), title, links: firstOf(link, mostOf.links) });
const panels = firstOf(
  z.discriminatedUnion('type', [table, keyValues, bars, text, links], {
    error: 'must be table, key-values, bars, text or links',
  }),
  panelsMax,
);

/** How many of it are not shown. */
function moreOf(panel: Panel): number {
  const over = (given: readonly unknown[], type: keyof typeof mostOf): number =>
    Math.max(0, given.length - mostOf[type]);
  if (panel.type === 'table') return over(panel.rows, panel.type);
  if (panel.type === 'key-values') return over(Object.keys(panel.values), panel.type);
  if (panel.type === 'bars') return over(panel.bars, panel.type);
  return panel.type === 'links' ? over(panel.links, panel.type) : Math.max(0, panel.text.length - textMax);
}

/** As everywhere in the inspector: what is called like a secret is blacked out. */
function withoutSecrets(panel: z.output<typeof panels>[number]): z.output<typeof panels>[number] {
  const shown = (name: string, value: PanelCell): PanelCell =>
    typeof value === 'string' && value !== '' && isSecretive(name) ? blackedOut : value;
  if (panel.type === 'table')
    return {
      ...panel,
      rows: panel.rows.map((row) => row.map((value, n) => shown(panel.columns[n] ?? '', value))),
    };
  if (panel.type === 'key-values')
    return {
      ...panel,
      values: Object.fromEntries(
        Object.entries(panel.values).map(([name, value]) => [name, shown(name, value)]),
      ),
    };
  return panel;
}

function protocolOf(address: string): string {
  try {
    return new URL(address).protocol;
  } catch {
    return '';
  }
}
