import { expect } from 'chai';
import { system, type Authority, type Caller } from '../../machines/caller.js';
import type { Refusal } from '../../machines/refusals.js';
import { budgetPolicy } from '../../machines/budget/machine.js';
import { connectorPolicy } from '../../machines/connector/policy.js';
import { filePolicy } from '../../machines/file/machine.js';
import { homePolicy } from '../../machines/home/machine.js';
import { pollPolicy } from '../../machines/poll/policy.js';
import { schedulePolicy } from '../../machines/schedule/machine.js';
import { interrupts, sessionPolicy } from '../../machines/session/policy.js';
import { workItemPolicy } from '../../machines/work-item/policy.js';
import { inState, post, outsider } from './session/beings.js';
import { callers, inStatus, roster } from './work-item/beings.js';

/**
 * Policies are given `{ by, onBehalfOf }`: a command or an effect that acts for an agent may do what that agent
 * may, and no more, though the event comes from the system. Today the two are equal everywhere.
 */
describe('what is sent on behalf of someone else', () => {
  const by = system('workflow-run:r1');
  const onBehalfOf: Caller = outsider;
  const authority: Authority = { by, onBehalfOf };
  const at = 1_700_000_000_000;
  const stamp = { at, by };
  const session = inState.idle().snapshot.context;
  const running = inState.running().snapshot.context;
  const item = inStatus('executing').snapshot;

  const judged: readonly (readonly [what: string, refusal: Refusal | undefined, code: string])[] = [
    [
      'archives no session',
      sessionPolicy(session, { ...stamp, type: 'session.archive' }, authority),
      'FORBIDDEN',
    ],
    ['clears no queue', sessionPolicy(session, { ...stamp, type: 'queue.clear' }, authority), 'FORBIDDEN'],
    [
      'stops no session of others',
      sessionPolicy(session, { ...stamp, type: 'session.stop' }, authority),
      'NOT_DESCENDANT',
    ],
    [
      'moves no work item of others',
      workItemPolicy(
        item.value,
        item.context,
        { ...stamp, type: 'item.move', status: 'blocked', note: 'so', facts: roster },
        authority,
      ),
      'NOT_OWNER',
    ],
    [
      'edits no work item',
      workItemPolicy(
        item.value,
        item.context,
        { ...stamp, type: 'item.edit', patch: { priority: 1 }, expectedVersion: item.context.version },
        authority,
      ),
      'PERSON_REQUIRED',
    ],
    [
      'decides no approval of its own',
      workItemPolicy(
        { work: 'executing', approval: 'pending' },
        item.context,
        { ...stamp, type: 'approval.decide', decision: 'approve', facts: roster },
        { by, onBehalfOf: callers.owner },
      ),
      'OWN_APPROVAL',
    ],
    ['removes no file', filePolicy({ ...stamp, type: 'file.remove' }, authority), 'FORBIDDEN'],
    [
      'records no fact',
      homePolicy({ ...stamp, type: 'fact.recorded', event: 'org:changed', payload: {} }, authority),
      'FORBIDDEN',
    ],
    [
      'grants no money',
      budgetPolicy({ ...stamp, type: 'budget.granted', usd: 5 }, authority),
      'PERSON_REQUIRED',
    ],
    [
      'triggers no cron job',
      schedulePolicy({} as never, { ...stamp, type: 'job.trigger' }, authority),
      'FORBIDDEN',
    ],
    [
      'allows no program',
      pollPolicy(
        { id: 'p' } as never,
        { ...stamp, type: 'activation.decide', decision: 'approve' },
        authority,
      ),
      'PERSON_REQUIRED',
    ],
    [
      'stops no connector',
      connectorPolicy({} as never, { ...stamp, type: 'connector.stop' }, authority),
      'FORBIDDEN',
    ],
  ];
  for (const [what, refusal, code] of judged)
    it(`${what}, no matter who sends it`, () => expect(refusal?.code).to.equal(code));

  it('interrupts no turn that its own sender could not interrupt', () => {
    const event = { ...post('m9'), ...stamp } as never;
    expect(interrupts(running, event)).to.equal(true);
    expect(interrupts(running, { ...(event as object), onBehalfOf } as never)).to.equal(false);
  });

  it('is a fact where only the sender counts: what an effect reports of its own turn', () => {
    const report = { ...stamp, type: 'turn.partial' as const, turnId: 's1:1', text: 'half' };
    expect(sessionPolicy(running, report, authority)).to.equal(undefined);
    expect(sessionPolicy(running, report, { by: outsider, onBehalfOf: system('x') })?.code).to.equal(
      'FORBIDDEN',
    );
  });
});
