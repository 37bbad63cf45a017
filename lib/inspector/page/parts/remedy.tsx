import { isMounted, readOnly } from '../../../page/base.js';
import { linkTo } from '../place.js';
import type { Problem } from '../problems.js';
import { Decide, Resume, StopTurn, TryConnector } from './decide.js';
import { LetterActions } from './letters.js';
import { OutcomeLine } from './outcome-line.js';
import { CancelRun, keyOfRun, pathOfRun } from './run-queue.js';

/** What ends it: a button where there is one, else in words what a person can do, with the way to it. */
export function Remedy({ of }: { readonly of: Problem }) {
  switch (of.type) {
    case 'decision':
      return of.state in elsewhere ? <Elsewhere of={of} /> : <Decide waiting={of.waiting} />;
    case 'stopped':
      if (of.actor.halted !== null) return <Resume actor={of.actor} />;
      return of.kind === 'connector' ? <TryConnector name={of.id} isFailing /> : <Elsewhere of={of} />;
    case 'slow':
      if (of.actor.why === 'quiet') return <StopTurn actor={of.actor} />;
      if (of.actor.why === 'queued') return <Queued of={of} workflow={of.actor.behind?.workflow} />;
      return <a href={linkTo(of.at)}>See what it does</a>;
    case 'letter':
      return <LetterActions id={of.letter.id} actor={of.letter.actor} of={of.key} />;
    case 'engine':
      return (
        <p class="soft">Install or repair it where the gateway runs; then send its sessions a message.</p>
      );
  }
}

/** Of a run that waits for room: it can be given up here, and the run that is in its way is named in its cause. */
function Queued({
  of: { id, at },
  workflow,
}: {
  readonly of: Problem;
  readonly workflow: string | undefined;
}) {
  return (
    <span class="decide">
      {workflow !== undefined && !isMounted && <CancelRun id={id} path={pathOfRun(workflow, id)} />}
      <a href={linkTo(at)}>Its place</a>
      <OutcomeLine of={keyOfRun(id)} />
    </span>
  );
}

/** What is not ended by one button: in the console, which an application that serves the inspector has not. */
function Elsewhere({ of: { kind, id, state } }: { readonly of: Problem }) {
  const said = elsewhere[state] ?? (kind === 'session' ? answerIt : openIt);
  const at =
    state === 'budget' || state === 'delivery'
      ? '/#/inbox'
      : kind === 'session'
        ? `/#/chat/${encodeURIComponent(id)}`
        : kind === 'work-item'
          ? `/#/item/${encodeURIComponent(id)}`
          : undefined;
  if (at === undefined || isMounted || readOnly !== undefined) return <p class="soft">{said}</p>;
  return (
    <p>
      <a href={at}>{said}</a>
    </p>
  );
}

const answerIt = 'Send it a message: a new turn begins';
const openIt = 'Open it: what it takes now is listed there';
const elsewhere: Readonly<Record<string, string>> = {
  budget: 'Grant more in the inbox',
  move: 'Move the work item on',
  delivery: 'See what arrived, and send it again if it did not',
  backup: 'Repair the folder of the backups, or choose another in config.yaml; the next one ends this.',
  worker: 'Start that worker on its machine, or wait until it is back.',
};
