import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { withEdge, withMember, withNode, withNodeRenamed, withoutNode, type Path } from './document.js';
import { beginnings, edgeFields, headFields, nodeFields } from './fields.js';
import { FieldInput, type Known } from './field-input.js';

type Raw = Readonly<Record<string, unknown>>;

interface FormProps {
  readonly text: string;
  readonly value: Raw;
  readonly known: Known;
  readonly write: (text: string) => void;
}

/** What is of the whole workflow. */
export function HeadForm({ text, value, known, write }: FormProps) {
  return (
    <div class="node-form">
      {headFields.map((field) => (
        <FieldInput
          key={field.path.join('.')}
          of="head"
          field={field}
          value={memberOf(value, field.path)}
          known={known}
          change={(path, next) => write(withMember(text, path, next))}
        />
      ))}
    </div>
  );
}

/** The node that is chosen: its fields, what follows it, and what may be put behind it. */
export function NodeForm({
  id,
  choose,
  ...form
}: FormProps & { readonly id: string; readonly choose: (id: string | undefined) => void }) {
  const { text, value, known, write } = form;
  const nodes = rawsIn(value['nodes']);
  const at = nodes.findIndex((node) => node['id'] === id);
  const node = nodes[at];
  if (node === undefined)
    return (
      <p class="soft">
        The gateway adds this start. Write a node of the type trigger to start it in another way.
      </p>
    );
  return (
    <div class="node-form">
      <Rename
        key={id}
        id={id}
        taken={nodes.map((one) => String(one['id']))}
        rename={(next) => {
          write(withNodeRenamed(text, id, next));
          choose(next);
        }}
      />
      {nodeFields(node).map((field) => (
        <FieldInput
          key={`${id}/${field.path.join('.')}`}
          of={id}
          field={field}
          value={memberOf(node, field.path)}
          known={known}
          change={(path, next) => write(withMember(text, ['nodes', at, ...path], next))}
        />
      ))}
      <Edges {...form} id={id} nodes={nodes} />
      <p class="ways">
        <button
          type="button"
          class="quiet end"
          onClick={() => {
            write(withoutNode(text, id));
            choose(undefined);
          }}
        >
          Remove {id}
        </button>
      </p>
    </div>
  );
}

/** Taken when it is complete: on the way to it the id could be that of another. */
function Rename({
  id,
  taken,
  rename,
}: {
  readonly id: string;
  readonly taken: readonly string[];
  readonly rename: (next: string) => void;
}) {
  const next = useSignal(id);
  useEffect(() => {
    next.value = id;
  }, [id]);
  const isTaken = next.value !== id && taken.includes(next.value);
  return (
    <label data-field="id">
      <span>Id</span>
      <input
        type="text"
        value={next.value}
        maxLength={128}
        autocomplete="off"
        onInput={(event) => {
          next.value = event.currentTarget.value;
        }}
        onChange={() => {
          if (!isTaken && next.value !== id && next.value !== '') rename(next.value);
        }}
      />
      <small class={isTaken ? 'bad' : 'soft'}>
        {isTaken ? 'Another node has this id.' : 'conditions and texts that name it change with it'}
      </small>
    </label>
  );
}

function Edges({
  id,
  nodes,
  text,
  value,
  known,
  write,
}: FormProps & { readonly id: string; readonly nodes: readonly Raw[] }) {
  const edges = rawsIn(value['edges'])
    .map((edge, n) => ({ edge, n }))
    .filter(({ edge }) => edge['from'] === id);
  const others = nodes.map((node) => String(node['id']));
  return (
    <fieldset class="edges">
      <legend>Then</legend>
      {edges.map(({ edge, n }) => (
        <details key={String(edge['id'] ?? n)}>
          <summary>
            {String(edge['to'])}
            <span class="soft">
              {' '}
              {[edge['kind'], edge['lane'], edge['when'] === undefined ? '' : 'on a condition']
                .filter((word) => typeof word === 'string' && word !== '' && word !== 'sequence')
                .join(', ')}
            </span>
          </summary>
          {edgeFields(edge).map((field) => (
            <FieldInput
              key={field.path.join('.')}
              of={`edge-${n}`}
              field={field}
              value={memberOf(edge, field.path)}
              known={known}
              change={(path: Path, next) => write(withMember(text, ['edges', n, ...path], next))}
            />
          ))}
          <button
            type="button"
            class="quiet"
            onClick={() => write(withMember(text, ['edges', n], undefined))}
          >
            Remove the way to {String(edge['to'])}
          </button>
        </details>
      ))}
      <select
        aria-label={`A way from ${id} to`}
        value=""
        onChange={(event) => {
          const to = event.currentTarget.value;
          event.currentTarget.value = '';
          if (to !== '') write(withEdge(text, id, to));
        }}
      >
        <option value="">Lead to …</option>
        {others.map((other) => (
          <option key={other}>{other}</option>
        ))}
      </select>
    </fieldset>
  );
}

/** `step` becomes `step-2` where there is one. */
export function AddAfter({
  text,
  id,
  taken,
  done,
}: {
  readonly text: string;
  readonly id: string | undefined;
  readonly taken: readonly string[];
  readonly done: (text: string, added: string) => void;
}) {
  return (
    <select
      aria-label={id === undefined ? 'Add a node' : `Add a node after ${id}`}
      value=""
      onChange={(event) => {
        const type = event.currentTarget.value;
        event.currentTarget.value = '';
        if (type === '') return;
        let added = type;
        for (let n = 2; taken.includes(added); n += 1) added = `${type}-${n}`;
        done(withNode(text, { id: added, ...beginnings[type] }, id), added);
      }}
    >
      <option value="">{id === undefined ? 'Add …' : 'Add after it …'}</option>
      {Object.keys(beginnings).map((type) => (
        <option key={type}>{type}</option>
      ))}
    </select>
  );
}

export const rawsIn = (list: unknown): readonly Raw[] =>
  Array.isArray(list)
    ? (list as readonly unknown[]).map((one) => (typeof one === 'object' && one !== null ? (one as Raw) : {}))
    : [];

const memberOf = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, part)
        ? (inner as Raw)[String(part)]
        : undefined,
    value,
  );
