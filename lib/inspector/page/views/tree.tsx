import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { actorPath, ask } from '../../../page/ask.js';
import { now, span, whole } from '../../../page/clock.js';
import { State } from '../../../page/parts/state.js';
import { VirtualList } from '../../../page/parts/virtual-list.js';
import { ActorTree, branchOf, thousand, type Branch, type Line } from '../actor-tree.js';
import { hear, useLoaded } from '../live.js';
import { go, linkTo } from '../place.js';
import type { ActorDetail, Fleet } from '../../answers.js';
import type { ActorKey } from '../../../../machines/outputs.js';

/** Who stands beneath whom, of any depth: all kinds, or what is beneath one actor. */
export function TreePage({ root }: { readonly root: ActorKey | undefined }) {
  const round = useSignal(0);
  const key = root === undefined ? 'all' : `${root.kind}/${root.id}`;
  const loaded = useLoaded(`${key} ${round.value}`, (signal) =>
    root === undefined ? wholeTree(signal) : treeBeneath(root, signal),
  );
  const { value, error } = loaded.value;
  const parent = value?.parent ?? null;
  return (
    <section class="view tree-view" aria-labelledby="tree-view-title">
      <p class="crumbs">
        <a href={linkTo({ view: 'supervision' })}>Supervision</a> /{' '}
        {root === undefined ? 'actor tree' : <a href={linkTo({ view: 'tree' })}>actor tree</a>}
        {parent !== null && (
          <>
            {' / … / '}
            <a href={linkTo({ view: 'tree', kind: parent.kind, id: parent.id })}>
              {parent.kind} {parent.id}
            </a>
          </>
        )}
      </p>
      <div class="heading">
        <h1 id="tree-view-title">{root === undefined ? 'Actor tree' : (value?.title ?? root.id)}</h1>
        {root !== undefined && <a href={linkTo({ view: 'actor', ...root })}>Open this actor</a>}
      </div>
      {error !== undefined && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      {value === undefined ? (
        error === undefined && <p aria-busy="true">Loading …</p>
      ) : (
        <Shown
          {...value}
          again={() => {
            round.value += 1;
          }}
        />
      )}
    </section>
  );
}

interface Found {
  readonly branches: () => readonly Branch[];
  readonly parent: ActorKey | null;
  readonly title: string | null;
}

async function wholeTree(signal: AbortSignal): Promise<Found> {
  const { kinds } = await ask<Fleet>('/api/inspect/fleet', { signal });
  const present = kinds.filter(({ total }) => total > 0);
  return { branches: () => present.map(branchOf), parent: null, title: null };
}

async function treeBeneath(root: ActorKey, signal: AbortSignal): Promise<Found> {
  const { parent, title } = await ask<ActorDetail>(actorPath(root), { signal });
  return { branches: () => [branchOf(root)], parent, title };
}

function Shown({ branches, again }: Pick<Found, 'branches'> & { readonly again: () => void }) {
  const tree = useMemo(() => new ActorTree(branches()), [branches]);
  useEffect(() => {
    const deaf = hear(({ entries }) => tree.take(entries));
    return () => {
      deaf();
      tree.close();
    };
  }, [tree]);
  void tree.version.value;
  const { lines } = tree;
  const toggle = (index: number): void => {
    const line = lines[index];
    const what = line === undefined ? undefined : branchAt(line);
    if (what !== undefined) tree.toggle(what);
  };
  const open = (index: number): void => {
    const line = lines[index];
    if (line?.type === 'actor') go({ view: 'actor', kind: line.node.actor.kind, id: line.node.actor.id });
    else if (line?.type === 'more') void tree.load(line.group);
    else toggle(index);
  };
  return (
    <div class="panel list tree-list">
      <p class="soft small tree-about">
        Arrow keys open and close a branch, Enter opens the actor.{' '}
        {tree.newcomers.value > 0 && (
          <button type="button" class="quiet" onClick={again}>
            Read again: {whole(tree.newcomers.value)} created since
          </button>
        )}
      </p>
      {lines.length === 0 ? (
        <p class="empty">No actors yet.</p>
      ) : (
        <VirtualList
          label="Actors and what is beneath them"
          count={lines.length}
          rowHeight={40}
          open={open}
          seen={(from, to) => tree.want(from, to)}
          row={(index) => <Row line={lines[index]} toggle={() => toggle(index)} />}
          tree={{
            levelOf: (index) => lines[index]?.level ?? 1,
            isExpanded: (index) => (lines[index] === undefined ? undefined : branchAt(lines[index])?.isOpen),
            toggle,
          }}
        />
      )}
    </div>
  );
}

/** What a line opens and closes. */
function branchAt(line: Line) {
  if (line.type === 'kind') return line.branch;
  if (line.type === 'group') return line.group;
  return line.type === 'actor' ? line.node.beneath : undefined;
}

function Row({ line, toggle }: { readonly line: Line | undefined; readonly toggle: () => void }) {
  if (line === undefined) return null;
  const branch = branchAt(line);
  return (
    <>
      <span class="tree-name" style={{ paddingLeft: `${Math.min(line.level - 1, indentsMax) * 20}px` }}>
        <i
          class={branch === undefined ? 'turn none' : 'turn'}
          aria-hidden="true"
          onClick={(event) => {
            if (branch === undefined) return;
            event.stopPropagation();
            toggle();
          }}
        >
          {branch === undefined ? '' : branch.isOpen ? '▾' : '▸'}
        </i>
        <Named line={line} />
      </span>
      {line.type === 'actor' && (
        <>
          <State value={line.node.actor.value} halted={line.node.actor.halted !== null} />
          <span class="age num" title="In this state for">
            {span(now.value - line.node.actor.since)}
          </span>
        </>
      )}
    </>
  );
}

function Named({ line }: { readonly line: Line }) {
  if (line.type === 'kind')
    return (
      <b>
        {line.branch.kind} <span class="soft num">{whole(line.branch.label?.total ?? 0)}</span>
      </b>
    );
  if (line.type === 'group')
    return (
      <span class="num">
        {whole(line.group.from + 1)} to {whole(line.group.from + thousand)}
      </span>
    );
  if (line.type === 'nothing')
    return (
      <span class="soft">{line.group.read > 0 ? 'All of these stand beneath others.' : 'Nothing here.'}</span>
    );
  if (line.type === 'more')
    return <span class="soft">{line.group.error ?? (line.group.isLoading ? 'Loading …' : 'More')}</span>;
  const { kind, id, title } = line.node.actor;
  return (
    <b>
      {title ?? id} <small class="soft">{title === null ? kind : `${kind} ${id}`}</small>
    </b>
  );
}

/** Deeper than this a line would have no room for its name. */
const indentsMax = 14;
