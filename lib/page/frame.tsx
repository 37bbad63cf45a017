import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { bearer, leave } from './access.js';
import { draftCount, dropDrafts } from './draft.js';
import { isMounted, isStopped, readOnly } from './base.js';
import { whole } from './clock.js';
import { connection, gaps, head } from './connection.js';
import { isFocusLost } from './keys.js';

/** A view as the frame's navigation names it. */
export interface Way {
  readonly href: string;
  readonly name: string;
  /** `g f` */
  readonly keys: string;
  /** A path in a square of 18. */
  readonly icon: string;
  readonly current: boolean;
  /** How many things in it wait. */
  readonly count?: number | undefined;
  /** What the number counts: `4 wait for a decision, 1 stopped`. Without it: that they wait. */
  readonly counted?: string | undefined;
  /** Shown only where there is room for all, or only where there is not. */
  readonly on?: 'wide' | 'narrow' | undefined;
}

/** What stands around every view of a page: where one can go, and whether what one sees is live. */
export function Frame({
  home,
  ways,
  tools,
  where,
  children,
}: {
  readonly home: string;
  readonly ways: readonly Way[];
  readonly tools: ComponentChildren;
  /** Changes with the view: the focus then goes to the new one. */
  readonly where: string;
  readonly children: ComponentChildren;
}) {
  const before = useRef(where);
  const isUntaken = useRef(false);
  // With the first drawing, not after it: who is already in a field of the new view would be taken out of it
  useLayoutEffect(() => {
    if (before.current === where) return;
    // What had the focus is gone with the view before: who listens or walks by keys begins at the new one
    before.current = where;
    isUntaken.current = !focusMain();
  }, [where]);
  // Behind a dialog that leads elsewhere nothing takes the focus, and what had it before is gone with its view. Only
  // then: who pressed a button of the new view at once has lost it for a while, too, and finds it at what comes there
  useEffect(() => {
    if (isUntaken.current && isFocusLost()) focusMain();
    isUntaken.current = false;
  }, [where]);
  return (
    <div class="frame">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        Skip to the view
      </a>
      <header class="side">
        <a class="brand" href={home}>
          <Mark />
          Troupe
        </a>
        <nav aria-label="Views">
          <ul>
            {ways.map((way) => (
              <li key={way.href} class={way.on}>
                <NavLink {...way} />
              </li>
            ))}
          </ul>
        </nav>
        {tools}
        <Status />
      </header>
      <main id="main" tabIndex={-1}>
        <Lost />
        {readOnly !== undefined && (
          <p class="banner" role="status">
            Read only. {readOnly}
          </p>
        )}
        {children}
      </main>
    </div>
  );
}

function NavLink({ href, name, keys, icon, current, count = 0, counted = 'waiting' }: Way) {
  return (
    <a
      href={href}
      aria-current={current ? 'page' : undefined}
      title={`${name}${keys === '' ? '' : ` (${keys})`}${count > 0 ? `: ${counted}` : ''}`}
    >
      <svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
        <path d={icon} />
      </svg>
      <span>{name}</span>
      {count > 0 && (
        <b class="count num">
          {count > 99 ? '99+' : count}
          <span class="unseen"> {counted}</span>
        </b>
      )}
    </a>
  );
}

function Status() {
  const state = connection.value;
  const isLive = state === 'live';
  return (
    <div class="status">
      <p role="status" data-connection={state} data-gaps={gaps.value}>
        <i class={`dot ${isStopped && isLive ? '' : state}`} aria-hidden="true" />
        {isLive
          ? isStopped
            ? 'Stopped, read only'
            : 'Live'
          : state === 'lost'
            ? 'Connecting again …'
            : 'Connecting …'}
      </p>
      <p class="soft num" title="Position in the log">
        seq <span data-head>{whole(head.value)}</span>
      </p>
      {bearer() !== null && <Forget />}
    </div>
  );
}

/** Who goes leaves nothing that was written on the device: where something was not saved, after a second look. */
function Forget() {
  const unsaved = useSignal(0);
  const forget = (): void => {
    dropDrafts();
    leave();
  };
  if (unsaved.value === 0)
    return (
      <button
        type="button"
        class="quiet"
        onClick={() => {
          unsaved.value = draftCount();
          if (unsaved.value === 0) forget();
        }}
      >
        Forget token
      </button>
    );
  const texts = unsaved.value === 1 ? 'One unsaved text' : `${unsaved.value} unsaved texts`;
  return (
    <div role="group" aria-label="Forget token" data-forget>
      <p class="small">{texts} on this device will be lost.</p>
      <button type="button" class="quiet" onClick={forget}>
        Forget all
      </button>{' '}
      <button
        type="button"
        class="quiet"
        onClick={() => {
          unsaved.value = 0;
        }}
      >
        Stay
      </button>
    </div>
  );
}

function Lost() {
  if (connection.value !== 'lost') return null;
  return (
    <p class="banner" role="alert">
      {isMounted ? 'The live feed is cut' : 'The gateway is gone'}. What you see is from before; the page goes
      on by itself, without a gap, when it is back. If it stays away:{' '}
      {isMounted ? 'does the application run, and pass on its upgrades?' : <code>troupe start</code>}
    </p>
  );
}

/** The sign of the house. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M16 10v5.500c0 3-7 2-7 6M16 15.500c0 3 7 2 7 6" />
      <circle cx="16" cy="9" r="3" />
      <circle cx="9" cy="23" r="3" />
      <circle class="spark" cx="23" cy="23" r="3" />
    </svg>
  );
}

/** False where it does not take the focus. */
function focusMain(): boolean {
  const main = document.getElementById('main');
  main?.focus({ preventScroll: true });
  return main !== null && document.activeElement === main;
}
