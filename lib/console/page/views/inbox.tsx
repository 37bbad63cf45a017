import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { whole } from '../../../page/clock.js';
import { isFocusLost, useKeys } from '../../../page/keys.js';
import { LongList, type LongListControl } from '../../../page/parts/long-list.js';
import { Age, Decision, placeOf, whatOf } from '../parts/decision.js';
import { Subject } from '../parts/subject.js';
import { wordsOf, type Choice } from '../../../client/decision.js';
import { choicesHere, hold, isDecidedHere, withdraw } from '../decide.js';
import { heldWords } from '../parts/held.js';
import { hear } from '../live.js';
import { inspectorLink, place } from '../place.js';
import { useCursor } from '../cursor.js';
import { keyOf, readMoreWaiting, waiting, waitingError, waitingMore, type Waiting } from '../waiting.js';
import { NoRecords } from '../parts/sheet.js';

/**
 * Everything that waits in one list, longest first, and what the one in focus asks. Decided by button or by
 * key, alone or together with others of its sort; what the gateway said stays in a line above the list.
 */
export function InboxPage() {
  const list = waiting.value;
  const opened = useSignal(false);
  const linked = place.value.view === 'inbox' ? place.value.key : undefined;
  const marked = useSignal<ReadonlySet<string>>(new Set());
  const outcome = useSignal<{ readonly text: string; readonly refused: boolean } | undefined>(undefined);
  const writing = useSignal<string | undefined>(undefined);
  const rows = useRef<LongListControl>(null);
  const columns = useRef<HTMLDivElement>(null);
  const note = useRef<HTMLTextAreaElement>(null);
  const focused = useRef<Element | null>(null);
  const cursor = useCursor((key) => {
    // Anyone who followed a link must not take the next thing for what it led to
    if (key === linked) outcome.value = { text: 'What the link leads to waits no more.', refused: true };
  });
  useEffect(() => {
    if (linked === undefined) return;
    cursor.to(linked);
    opened.value = true;
  }, [linked]);
  const thing = cursor.thing();
  useEffect(() => {
    // What had the focus has gone with what was decided: it goes on at the row of the next, where keys decide. A
    // button that is at work has only lost it for a while.
    if (focused.current?.isConnected === false && isFocusLost())
      columns.current?.querySelector<HTMLElement>('.at .pick')?.focus();
  });
  useEffect(() => {
    const there = new Set(list?.map(keyOf));
    const left = [...marked.value].filter((key) => there.has(key));
    if (left.length !== marked.value.size) marked.value = new Set(left);
  }, [list]);

  /** What was decided last, as long as it can be withdrawn. */
  const lately = useRef<readonly string[]>([]);
  useEffect(
    () =>
      hear(({ frames }) => {
        for (const { event, payload } of frames)
          if (event === 'decision:refused' && lately.current.includes(String(payload['decisionId'])))
            outcome.value = { text: `Not decided: ${String(payload['reason'])}`, refused: true };
      }),
    [],
  );
  const held = heldNow();
  const undo = async (): Promise<void> => {
    const all = heldNow().flatMap((one) => (one.held ? [one.held.decisionId] : []));
    const last = all.filter((id) => lately.current.includes(id));
    const ids = last.length > 0 ? last : all; // the page was loaded again since
    if (ids.length === 0) return;
    const refused: string[] = [];
    for (const id of ids)
      await withdraw(id).catch((error: unknown) =>
        refused.push(error instanceof Error ? error.message : String(error)),
      );
    outcome.value =
      refused.length > 0
        ? { text: refused.join(' '), refused: true }
        : {
            text: ids.length === 1 ? 'Undone: nothing was decided.' : `Undone: ${ids.length} things.`,
            refused: false,
          };
  };
  const move = (by: number): void => {
    const all = waiting.value ?? [];
    const to = Math.max(0, Math.min(all.length - 1, cursor.index() + by));
    if (all[to] === undefined) return;
    cursor.to(keyOf(all[to]));
    rows.current?.reveal(to);
  };
  /** To the next that waits undecided; what is held stays where it is until it counts. Not where one has gone on. */
  const goOn = (from: string): void => {
    if (cursor.key.value !== from) return;
    const all = waiting.value ?? [];
    const place = all.findIndex((one) => keyOf(one) === from);
    const next = all.find((one, n) => n > place && one.held === undefined && !isDecidedHere(one));
    if (place >= 0 && next !== undefined) cursor.to(keyOf(next));
  };
  /** The note that is open, if it is of that thing: keys may be faster than the drawing. */
  const noteOf = (one: Waiting | undefined): HTMLTextAreaElement | null =>
    one !== undefined && thing !== undefined && keyOf(one) === keyOf(thing) ? note.current : null;
  /** True, and said so, where what stood there has slipped away under the finger. */
  const refuseUnread = (): boolean => {
    if (!cursor.isNew()) return false;
    outcome.value = {
      text: 'What stood here waits no more. This is the next: read it, and press again.',
      refused: true,
    };
    return true;
  };
  const decideAll = async (choice: Choice): Promise<void> => {
    const at = cursor.thing();
    const isMarked = marked.value.size > 0;
    if (!isMarked && refuseUnread()) return;
    const written = noteOf(at)?.value ?? ''; // before it goes with what is decided
    const all = isMarked
      ? (waiting.value ?? []).filter((one) => marked.value.has(keyOf(one)))
      : at
        ? [at]
        : [];
    const chosen = all.filter((one) => one.held !== undefined || !isDecidedHere(one));
    const open = chosen.filter((one) => one.held === undefined);
    if (open.length === 0 && chosen.length > 0)
      return void (outcome.value = { text: 'It is decided already: press u to undo it.', refused: true });
    const possible = open.filter((one) => choicesHere(one).includes(choice));
    const other = open.find((one) => !one.operatorEntitled)?.on;
    const why = other === undefined ? 'This is not decided here: open it.' : `${other} decides this.`;
    if (possible.length === 0) return void (outcome.value = { text: why, refused: true });
    if (possible.some(({ what }) => what === 'budget'))
      return void (outcome.value = { text: 'A budget needs an amount: grant it below.', refused: true });
    const refused: string[] = [];
    const ids: string[] = [];
    for (const one of possible)
      await hold(one, choice, { note: one === at ? written : '' }).then(
        (made) => made && ids.push(made.id),
        (error: unknown) =>
          refused.push(`${one.title}: ${error instanceof Error ? error.message : String(error)}`),
      );
    lately.current = ids;
    if (isMarked) marked.value = new Set();
    else if (ids.length > 0 && at !== undefined) goOn(keyOf(at));
    const done = possible.length - refused.length;
    outcome.value = {
      text: [
        ...(done > 0 && possible[0]
          ? [`${wordsOf(possible[0], choice)[0]}: ${done === 1 ? possible[0].title : `${done} things`}.`]
          : []),
        ...(refused.length > 0 ? [`Not decided: ${refused.join(' ')}`] : []),
      ].join(' '),
      refused: refused.length > 0,
    };
  };
  const mark = (one: Waiting): void => {
    const next = new Set(marked.value);
    if (!next.delete(keyOf(one))) next.add(keyOf(one));
    marked.value = next;
  };
  const byKey: Readonly<Record<string, () => void>> = {
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    a: () => void decideAll('approve'),
    r: () => void decideAll('reject'),
    e: () => void decideAll('escalate'),
    s: () => void decideAll('again'),
    u: () => void undo(),
    x: () => cursor.thing() && mark(cursor.thing()!),
    n: () => {
      writing.value = cursor.key.value;
      opened.value = true;
      noteOf(cursor.thing())?.focus(); // where it is open already
    },
    o: () => cursor.thing() && location.assign(placeOf(cursor.thing()!)),
  };
  useKeys((key) => {
    const act = byKey[key];
    // Arrows scroll the box in which one reads
    if (act === undefined || (key.startsWith('Arrow') && document.activeElement?.matches('pre')))
      return false;
    act();
    return true;
  });

  return (
    <div class="view inbox">
      <div class="heading">
        <h1>Inbox</h1>
        <p class="soft">
          {list === undefined
            ? 'Loading …'
            : list.length === 0
              ? 'Nothing waits.'
              : `${whole(list.length - held.length)}${waitingMore.value ? ' and more' : ''} waiting, longest first.`}
        </p>
      </div>
      <p
        class={outcome.value?.refused ? 'notice bad' : outcome.value ? 'notice good' : 'unseen'}
        role="status"
        data-outcome
      >
        {outcome.value?.text ?? ''}
      </p>
      {held.length > 0 && (
        <p class="together" data-undo>
          <span class="num">
            {held.length === 1 && held[0]
              ? `${heldWords(held[0])}: ${held[0].title}`
              : `${held.length} decided`}
          </span>
          <button type="button" onClick={() => void undo()}>
            Undo <kbd>u</kbd>
          </button>
        </p>
      )}
      {waitingError.value !== undefined && (
        <p class="notice bad" role="alert">
          {waitingError.value}
        </p>
      )}
      {list !== undefined && list.length === 0 && (
        <NoRecords title="You are done here.">
          Agents that want to use a tool, ask for an approval, stand at a gate or have spent their budget are
          listed here at once, on every device.
        </NoRecords>
      )}
      {marked.value.size > 0 && (
        <p class="together">
          <b>{marked.value.size} marked</b>
          <button type="button" class="primary" onClick={() => void decideAll('approve')}>
            Approve all
          </button>
          <button type="button" onClick={() => void decideAll('reject')}>
            Reject all
          </button>
          <button
            type="button"
            class="quiet"
            onClick={() => {
              marked.value = new Set();
            }}
          >
            Unmark
          </button>
        </p>
      )}
      {list !== undefined && list.length > 0 && (
        <div
          ref={columns}
          class={`inbox-columns${opened.value ? ' opened' : ''}`}
          onFocusIn={({ target }) => {
            focused.current = target as Element;
          }}
          onFocusOut={({ relatedTarget }) => {
            if (relatedTarget !== null) focused.current = null;
          }}
        >
          <div>
            <LongList
              class="panel list"
              label="Waiting"
              items={list}
              keyOf={keyOf}
              heightPx={60}
              control={rows}
              row={(one, place) => (
                <li
                  key={keyOf(one)}
                  class={`${one === thing ? 'at' : ''}${one.held ? ' held' : ''}`}
                  {...place}
                >
                  <input
                    type="checkbox"
                    aria-label={`Mark: ${one.title}`}
                    checked={marked.value.has(keyOf(one))}
                    onChange={() => mark(one)}
                  />
                  <button
                    type="button"
                    class="pick"
                    aria-current={one === thing ? 'true' : undefined}
                    onClick={() => {
                      cursor.to(keyOf(one));
                      opened.value = true;
                    }}
                  >
                    <span class="what">{whatOf(one)}</span>
                    <span class="title">{one.title}</span>
                    <span class="meta">
                      {one.held && <b class="num">{heldWords(one)} · </b>}
                      {one.on !== 'operator' && <span>asked of {one.on} · </span>}
                      <Age thing={one} />
                    </span>
                  </button>
                </li>
              )}
            />
            {waitingMore.value && (
              <p class="more">
                <span class="soft small">These are the {whole(list.length)} that wait longest.</span>{' '}
                <button type="button" onClick={readMoreWaiting}>
                  Show more
                </button>
              </p>
            )}
          </div>
          {thing !== undefined && (
            <section class="panel detail" aria-labelledby="detail-title" key={keyOf(thing)}>
              <button
                type="button"
                class="quiet back"
                onClick={() => {
                  opened.value = false;
                }}
              >
                ‹ All
              </button>
              <h2 id="detail-title">
                <span class="what">{whatOf(thing)}</span> {thing.title}
              </h2>
              <Subject thing={thing} />
              <Decision
                thing={thing}
                writing={writing.value === keyOf(thing)}
                noteField={note}
                refuseUnread={refuseUnread}
                settled={(text, refused, made) => {
                  outcome.value = { text, refused };
                  if (made === undefined) return;
                  lately.current = [made];
                  goOn(keyOf(thing));
                }}
              />
              <p class="foot">
                <a class="quiet" href={placeOf(thing)}>
                  Open
                </a>
                <a class="quiet" href={inspectorLink(thing.kind, thing.id)}>
                  Inspect
                </a>
              </p>
            </section>
          )}
        </div>
      )}
    </div>
  );
}

const heldNow = (): readonly Waiting[] => waiting.value?.filter((one) => one.held !== undefined) ?? [];
