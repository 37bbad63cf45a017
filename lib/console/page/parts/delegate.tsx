import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Answer } from '../../../client/index.js';
import { useAction } from '../../../page/action.js';
import { client, must } from '../../../page/gateway.js';
import { linkTo } from '../place.js';
import { Fault } from './answered.js';

/** Give a work item to an employee with an instruction: a session attempts it at once. Assigning starts nothing. */
export function Delegate({
  id,
  assignee,
  people,
}: {
  readonly id: string;
  readonly assignee: string | null;
  readonly people: readonly string[];
}) {
  const to = useRef<HTMLSelectElement>(null);
  const task = useRef<HTMLTextAreaElement>(null);
  const { message, busy, attempt } = useAction();
  const begun = useSignal<Answer<'/api/delegations', 'post'> | undefined>(undefined);
  const delegate = async (): Promise<void> => {
    begun.value = undefined;
    begun.value = await must(
      client.post('/api/delegations', {
        body: { workItemId: id, employee: to.current?.value ?? '', task: task.current?.value ?? '' },
      }),
    );
    if (task.current) task.current.value = '';
  };
  return (
    <section class="panel" aria-labelledby="delegate-title">
      <h2 id="delegate-title">Delegate</h2>
      <form
        class="delegate"
        onSubmit={(event) => {
          event.preventDefault();
          void attempt(delegate);
        }}
      >
        <label>
          To
          <select ref={to}>
            {people.map((name) => (
              <option key={name} selected={name === assignee}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Instruction
          <textarea ref={task} rows={2} required placeholder="What to do, as the agent will read it" />
        </label>
        <p class="ways">
          <button type="submit" class="end" disabled={busy}>
            Delegate
          </button>
        </p>
      </form>
      <Fault message={message} />
      {begun.value !== undefined && (
        <p class="small" role="status">
          Delegated to {begun.value.employee} on {begun.value.engine}.{' '}
          <a href={linkTo({ view: 'chat', id: begun.value.sessionId })}>Open its session</a>
        </p>
      )}
    </section>
  );
}
