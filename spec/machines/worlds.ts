import { expect } from 'chai';
import type { AnyStateMachine } from 'xstate';
import { system } from '../../machines/caller.js';
import { bandOf } from '../../machines/budget/machine.js';
import { maxRounds } from '../../machines/work-item/context.js';
import { fresh as freshBudget, grant, spend } from './budget/beings.js';
import { fresh as freshConnector } from './connector/beings.js';
import { fresh as freshFile } from './file/beings.js';
import { fresh as freshHome } from './home/beings.js';
import { fresh as freshJob, run } from './schedule/beings.js';
import { fresh as freshFire } from './cron-fire/beings.js';
import { fresh as freshPoll, contract as changed, fields as pollFields } from './poll/beings.js';
import { fresh as freshTrigger, fields as triggerFields } from './trigger/beings.js';
import { fresh as freshChallenge } from './pairing/beings.js';
import { fresh as freshCode, redeem } from './pairing-code/beings.js';
import { fresh as freshHeld, withdraw } from './held-decision/beings.js';
import { fresh as freshWorker, connect, join as joinWorker } from './worker/beings.js';
import { fresh as freshNotifier, held, over, thing } from './notifier/beings.js';
import { fresh as freshRoot } from './root/beings.js';
import {
  bad,
  fresh as freshSession,
  child,
  cut,
  good,
  limited,
  message,
  post,
  outsider,
} from './session/beings.js';
import type { Life } from './step.js';
import { as, fresh as freshItem } from './work-item/beings.js';

/**
 * Small worlds: for each machine what may happen to it, in words, and what must hold whatever happened. The
 * walks (every state, breadth first) and the property tests (random sequences) both live in them.
 */
export interface SmallWorld<M extends AnyStateMachine = AnyStateMachine> {
  readonly name: string;
  fresh(): Life<M>;
  /** States that this world never comes to, and why not. */
  readonly never?: Readonly<Record<string, string>>;
  readonly deeds: Readonly<Record<string, (life: Life<AnyStateMachine>) => void>>;
  /** What makes two situations the same for a walk. */
  same(life: Life<M>): string;
  holds(life: Life<M>): void;
}

const finish =
  (id: string, output: unknown) =>
  (life: Life<AnyStateMachine>): void => {
    if (life.effects.has(id)) life.finish(id, output);
  };
const fail =
  (id: string, error: string) =>
  (life: Life<AnyStateMachine>): void => {
    if (life.effects.has(id)) life.fail(id, error);
  };
const sent =
  (event: Record<string, unknown> & { type: string }) =>
  (life: Life<AnyStateMachine>): void => {
    life.send(event);
  };
const wait = (life: Life<AnyStateMachine>): void => life.wait();

type Session = ReturnType<typeof freshSession>;
const posts =
  (kind: 'user' | 'callback' | 'agent', extra = {}) =>
  (life: Life<AnyStateMachine>): void => {
    life.send({
      ...post(`${kind}-${(life.snapshot as Session['snapshot']).context.messages + 1}`, kind),
      ...extra,
    });
  };

const sessions: SmallWorld<Session['machine']> = {
  name: 'session',
  fresh: () =>
    freshSession({
      parentSessionId: 'parent-1',
      ancestors: ['parent-1'],
      workItemId: 'TRP-1',
      message: message('first'),
    }),
  never: { deleted: 'an attempt at a work item is evidence' },
  deeds: {
    'a user writes': posts('user'),
    'a callback comes': posts('callback'),
    'an agent writes': posts('agent', { by: outsider }),
    'somebody stops it': sent({ type: 'session.stop' }),
    'a stranger tries to stop it': sent({ type: 'session.stop', by: outsider }),
    'the first in the queue is cancelled': (life) => {
      const id = (life.snapshot as Session['snapshot']).context.queue[0]?.id;
      if (id !== undefined) life.send({ type: 'queue.cancel', messageId: id });
    },
    'the last in the queue goes first': (life) => {
      const id = (life.snapshot as Session['snapshot']).context.queue.at(-1)?.id;
      if (id !== undefined) life.send({ type: 'queue.move', messageId: id, place: 1 });
    },
    'a file is attached': (life) =>
      life.send({
        type: 'media.insert',
        message: {
          id: `m-${(life.snapshot as Session['snapshot']).context.messages}`,
          content: 'a.txt',
          media: [],
        },
      }),
    'somebody went on elsewhere': (life) => {
      const { messages, lastActivity } = (life.snapshot as Session['snapshot']).context;
      life.send({
        type: 'transcript.found',
        entries: [
          {
            id: `t-${messages}`,
            role: 'user',
            content: 'more',
            timestamp: Math.min(lastActivity + 1, life.at),
          },
        ],
        by: { type: 'system', part: 'backfill' },
      });
    },
    'a stranger attaches a file': sent({
      type: 'media.insert',
      message: { id: 'm-x', content: 'x', media: [] },
      by: outsider,
    }),
    'the queue is cleared': sent({ type: 'queue.clear' }),
    'the queue is paused': sent({ type: 'queue.pause' }),
    'the queue is resumed': sent({ type: 'queue.resume' }),
    'a child ends': sent({
      type: 'child.finished',
      childId: 'c1',
      outcome: 'succeeded',
      title: 'dig',
      text: 'gold',
      by: { ...child, id: 'c1' },
    }),
    'the turn begins': (life) => {
      const id = (life.snapshot as Session['snapshot']).context.turn?.id;
      if (id !== undefined)
        life.send({ type: 'turn.began', turnId: id, silence: { ms: 2_000, action: 'show' } });
    },
    'the turn says something': (life) => {
      const id = (life.snapshot as Session['snapshot']).context.turn?.id;
      if (id !== undefined) life.send({ type: 'turn.heard', turnId: id, quietMs: 0 });
    },
    'a left turn speaks': (life) => {
      const id = (life.snapshot as Session['snapshot']).context.leftTurns[0];
      if (id !== undefined)
        life.send({ type: 'turn.partial', turnId: id, text: 'half', usage: { costUsd: 0.5 } });
    },
    'the engine names its session': (life) => {
      const id = (life.snapshot as Session['snapshot']).context.turn?.id;
      if (id !== undefined) life.send({ type: 'turn.native', turnId: id, nativeId: 'native' });
    },
    'a person resumes it': sent({ type: 'session.resume' }),
    'it is archived': sent({ type: 'session.archive' }),
    'it is fetched back': sent({ type: 'session.unarchive' }),
    'it is reset': sent({ type: 'session.reset' }),
    'what it holds is erased': sent({ type: 'session.erase' }),
    'somebody deletes it': sent({ type: 'session.delete' }),
    'the agent asks for a tool': (life) => {
      const { turn, permissionsAsked = 0 } = (life.snapshot as Session['snapshot']).context;
      if (turn !== null)
        life.send({
          type: 'permission.asked',
          permissionId: `p${permissionsAsked + 1}`,
          turnId: turn.id,
          tool: 'Bash',
          title: 'ls',
          text: '{}',
          waitMs: 1_000,
          by: { type: 'system', part: 'engine-turn' },
        });
    },
    'a person allows the tool': (life) => {
      const id = (life.snapshot as Session['snapshot']).context.permissions?.[0]?.id;
      if (id !== undefined)
        life.send({ type: 'permission.decided', permissionId: id, decision: 'allow', always: true });
    },
    'an agent tries to allow it': (life) => {
      const id = (life.snapshot as Session['snapshot']).context.permissions?.[0]?.id;
      if (id !== undefined)
        life.send({ type: 'permission.decided', permissionId: id, decision: 'allow', by: outsider });
    },
    'the turn succeeds': finish(
      'turn',
      good('yes', { usage: { inputTokens: 3, outputTokens: 2, costUsd: 0.1 } }),
    ),
    'the turn fails': finish('turn', bad()),
    'the turn is cut': finish('turn', cut()),
    'its gateway ends, and it goes on': finish('turn', cut({ cut: 'resume' })),
    "the turn's process is not confirmed gone": finish('turn', cut({ unconfirmedPid: 7 })),
    'the turn meets a limit': finish('turn', limited()),
    'the hand breaks': fail('turn', 'broken'),
    'time passes': wait,
  },
  same: ({ value, snapshot: { context } }) =>
    JSON.stringify([
      value,
      Math.min(context.queue.length, 2),
      context.queuePaused,
      context.engaged,
      context.turn?.items.some(({ kind }) => kind === 'user') ?? null,
      context.turn?.silentSince !== undefined,
      Math.min(context.resumes ?? 0, 1),
      context.leftTurns.length > 0,
      Math.min(context.permissions?.length ?? 0, 1),
      (context.archivedAt ?? null) !== null,
    ]),
  holds(life) {
    const { context } = life.snapshot;
    const running = life.value === 'running';
    expect(context.turn !== null, 'a turn is in context exactly while it runs').to.equal(running);
    expect(life.effects.size, 'at most one turn, and one while running').to.equal(running ? 1 : 0);
    expect(
      [...life.timers.keys()].filter((id) => id !== 'silence').length,
      'a timer exactly while waiting, and for every tool that waits for a person',
    ).to.equal((life.value === 'waiting' ? 1 : 0) + (context.permissions?.length ?? 0));
    if (!running) expect(life.timers.has('silence'), 'only a turn falls silent').to.equal(false);
    if (!running) expect(context.permissions, 'no tool waits without a turn').to.deep.equal([]);
    const decided = new Set(keptRows(life, 'decisions').map(({ n }) => n));
    expect(
      keptRows(life, 'permissions').filter(({ n }) => !decided.has(n)).length,
      'every tool that was asked for is pending or decided',
    ).to.equal(context.permissions?.length ?? 0);
    if (context.archivedAt != null)
      expect(running || life.value === 'waiting', 'nothing that was put away is at work').to.equal(false);
    if (!running && life.value !== 'waiting')
      expect(
        context.queuePaused || context.queue.length === 0,
        'no resting session with a ready queue',
      ).to.equal(true);
    expect(context.queue.length + (context.turn?.items.length ?? 0)).to.be.at.most(200);
    if (context.workItemId !== null) {
      expect(
        life.tells('attempt.started').length - life.tells('attempt.ended').length,
        'every attempt that was told of ends',
      ).to.equal(context.engaged ? 1 : 0);
      expect(life.tells('child.finished').length).to.be.at.most(life.tells('attempt.ended').length);
    }
    if (life.value === 'deleted')
      return void expect(remaining(life), 'nothing of it is left').to.deep.equal([]);
    expect(
      keptRows(life, 'messages').map(({ n }) => n),
      'messages are numbered without a gap',
    ).to.deep.equal(Array.from({ length: context.messages }, (_, place) => place + 1));
    const fate = new Map(
      keptRows(life, 'queue').map(({ row }) => [
        (row as { id: string }).id,
        (row as { status: string }).status,
      ]),
    );
    const alive = new Set([...context.queue, ...(context.turn?.items ?? [])].map(({ id }) => id));
    for (const [id, status] of fate)
      expect(['pending', 'running'].includes(status), `message ${id} is ${status}`).to.equal(alive.has(id));
    expect(context.attemptTerminalVersion).to.be.at.most(context.turns);
  },
};

/** Rows that were kept and not taken away again. */
function remaining(life: Life<AnyStateMachine>): readonly string[] {
  const rows = new Map<string, boolean>();
  for (const wish of life.wishes)
    if (wish.type === 'kernel.write-row') rows.set(`${wish.collection}/${wish.n}`, wish.row !== null);
  return [...rows].filter(([, kept]) => kept).map(([name]) => name);
}

/** Rows as they were written last, without those that were taken away: what is erased is numbered from 1 again. */
function keptRows(
  life: Life<AnyStateMachine>,
  collection: string,
): readonly { readonly n: string | number; readonly row: unknown }[] {
  const rows = new Map(life.rows(collection).map(({ n, row }) => [n, row]));
  return [...rows].filter(([, row]) => row !== null).map(([n, row]) => ({ n, row }));
}

/** The same without a work item: it may be deleted. */
const freeSessions: SmallWorld<Session['machine']> = {
  name: 'session without a work item',
  fresh: () => freshSession({ message: message('first') }),
  deeds: sessions.deeds,
  same: sessions.same,
  holds: sessions.holds,
};

type Item = ReturnType<typeof freshItem>;
const started = (sessionId: string) => ({ type: 'attempt.started', sessionId, employee: 'ann' });
const ended = (sessionId: string, outcome: string) => ({
  type: 'attempt.ended',
  sessionId,
  outcome,
  summary: 'so',
});

const items: SmallWorld<Item['machine']> = {
  name: 'work-item',
  fresh: () => freshItem(),
  deeds: {
    ...Object.fromEntries(
      ['backlog', 'assigned', 'executing', 'in_review', 'blocked', 'escalated', 'done'].flatMap((status) => [
        [`the operator moves it to ${status}`, sent({ type: 'item.move', status, note: 'so' })],
        [`an attempt moves it to ${status}`, sent(as('attempt', { type: 'item.move', status, note: 'so' }))],
      ]),
    ),
    'it is archived': sent({ type: 'item.archive' }),
    'it is assigned': sent({ type: 'item.assign', assignee: 'ann', department: null }),
    'it is edited': (life) =>
      life.send({
        type: 'item.edit',
        patch: { assignee: 'ben' },
        expectedVersion: (life.snapshot as Item['snapshot']).context.version,
      }),
    'its ceiling is lowered': (life) =>
      life.send({
        type: 'item.edit',
        patch: { verifyPolicy: { mode: 'verify', maxRounds: 1 } },
        expectedVersion: (life.snapshot as Item['snapshot']).context.version,
      }),
    'it is trusted': (life) =>
      life.send({
        type: 'item.edit',
        patch: { verifyPolicy: { mode: 'trust', maxRounds: 3 } },
        expectedVersion: (life.snapshot as Item['snapshot']).context.version,
      }),
    'one attempt begins': sent(started('attempt-1')),
    'another attempt begins': sent(started('attempt-2')),
    'one attempt succeeds': sent(ended('attempt-1', 'succeeded')),
    'one attempt fails': sent(ended('attempt-1', 'failed')),
    'another attempt is cut': sent(ended('attempt-2', 'interrupted')),
    'an approval is asked for': sent({
      type: 'approval.request',
      requestId: 'r1',
      request: 'May I?',
      target: null,
    }),
    'another approval is asked for': (life) =>
      life.send({
        type: 'approval.request',
        requestId: 'r2',
        request: 'May I now?',
        target: null,
        expiresAt: life.at + 1_000,
      }),
    'the operator approves': sent({ type: 'approval.decide', decision: 'approve' }),
    'the operator rejects': sent({ type: 'approval.decide', decision: 'reject' }),
    'a stranger approves': sent(as('outsider', { type: 'approval.decide', decision: 'approve' })),
    'the approval is escalated': sent({ type: 'approval.escalate' }),
    'somebody comments': sent({ type: 'item.comment', commentId: 'c', text: 'hm' }),
    'time passes': wait,
  },
  same: ({ value, snapshot: { context } }) =>
    JSON.stringify([
      value,
      context.assignee === null,
      context.declared,
      context.rounds,
      context.attempts.some(({ live }) => live),
      context.approval?.escalatedAt === null,
    ]),
  holds(life) {
    const {
      context,
      value: { work, approval },
    } = life.snapshot;
    expect(context.closedAt !== null, 'closedAt exactly in done and cancelled').to.equal(
      work === 'done' || work === 'cancelled',
    );
    expect(context.archived).to.equal(work === 'cancelled');
    expect(context.rounds, 'never more rounds than the ceiling').to.be.at.most(maxRounds(context));
    if (work === 'backlog') expect(context.assignee, 'nobody is assigned in backlog').to.equal(null);
    if (work === 'assigned') expect(context.assignee, 'somebody is assigned in assigned').to.be.a('string');
    expect(approval === 'none', 'an approval exactly where there is one').to.equal(context.approval === null);
    if (context.approval) expect(context.approval.decidedBy !== null).to.equal(approval !== 'pending');
    if (approval !== 'pending')
      expect(life.timers.size, 'nothing is waited for once it is decided').to.equal(0);
    if (approval === 'pending' && context.approval?.escalatedAt === null)
      expect(
        [...life.timers.values()].some(({ event }) => event.type.includes('escalation')),
        'a silent manager is not waited for for ever',
      ).to.equal(true);
    const events = life.rows('events');
    expect(
      events.map(({ n }) => n),
      'the ledger has no gap',
    ).to.deep.equal(Array.from({ length: context.events }, (_, place) => place + 1));
    expect(new Set(events.map(({ row }) => (row as { id: string }).id)).size).to.equal(events.length);
    expect(context.version).to.be.at.least(1);
  },
};

type Wire = ReturnType<typeof freshConnector>;
const connectors: SmallWorld<Wire['machine']> = {
  name: 'connector',
  fresh: () => freshConnector(),
  deeds: {
    'it is started': sent({ type: 'connector.start' }),
    'it is stopped': sent({ type: 'connector.stop' }),
    'it is reloaded': sent({ type: 'connector.reload' }),
    'a message is to be sent': (life) => {
      life.send({
        type: 'delivery.request',
        deliveryId: `d-${(life.snapshot as Wire['snapshot']).context.deliveries + 1}`,
        channel: '#ops',
        text: 'hello',
        thread: null,
      });
    },
    'the link opens': finish('opening', undefined),
    'the link does not open': fail('opening', 'no route'),
    'the link breaks': fail('holding', 'reset'),
    'the far side hangs up': finish('holding', undefined),
    'the message is sent': finish('delivery', { outcome: 'sent', messageId: 'm' }),
    'the message is refused': finish('delivery', { outcome: 'failed', reason: 'no' }),
    'the sending breaks': fail('delivery', 'cut'),
    'time passes': wait,
  },
  same: ({ value, snapshot: { context } }) =>
    JSON.stringify([value, Math.min(2, context.queue.length), context.failures > 0]),
  holds(life) {
    const {
      context,
      value: { link, outbox },
    } = life.snapshot;
    expect(context.current !== null, 'a delivery exactly while sending').to.equal(outbox === 'sending');
    expect(life.effects.has('delivery')).to.equal(outbox === 'sending');
    expect([life.effects.has('opening'), life.effects.has('holding')]).to.deep.equal([
      link === 'starting',
      link === 'running',
    ]);
    expect(
      context.sent + context.failed + context.unknown + context.queue.length + (context.current ? 1 : 0),
      'every accepted message has a fate or waits',
    ).to.equal(context.deliveries);
    if (link === 'running' && outbox === 'quiet')
      expect(context.queue, 'nothing waits for a running link that is quiet').to.deep.equal([]);
    if (link === 'stopped') expect(context.queue).to.deep.equal([]);
    const timers = [...life.timers.values()].map(({ event }) => event.type);
    const ofLink = timers.filter((type) => type !== 'unsettled.over').length;
    expect(ofLink).to.equal(link === 'error' ? 1 : link === 'running' ? Math.min(1, ofLink) : 0);
    expect(timers.includes('unsettled.over'), 'a failed message goes in its time').to.equal(
      context.unsettled.some(({ outcome }) => outcome === 'failed'),
    );
  },
};

type Root = ReturnType<typeof freshRoot>;
const roots: SmallWorld<Root['machine']> = {
  name: 'root',
  fresh: () => freshRoot(),
  deeds: {
    'boot ends': sent({ type: 'boot.finished' }),
    'draining begins': sent({ type: 'drain.begin' }),
    'draining ends': sent({ type: 'drain.finished' }),
    'the store fails': sent({ type: 'subsystem.failed', name: 'store', reason: 'full' }),
    'the gateway fails': sent({ type: 'subsystem.failed', name: 'gateway', reason: 'port' }),
    'the store recovers': sent({ type: 'subsystem.recovered', name: 'store' }),
    'the gateway recovers': sent({ type: 'subsystem.recovered', name: 'gateway' }),
  },
  same: ({ value, snapshot: { context } }) => JSON.stringify([value, context]),
  holds(life) {
    const failing = Object.keys(life.snapshot.context.failing).length;
    if (life.value === 'running') expect(failing, 'running means that nothing fails').to.equal(0);
    if (life.value === 'degraded') expect(failing, 'degraded means that something fails').to.be.above(0);
  },
};

type Home = ReturnType<typeof freshHome>;
const homes: SmallWorld<Home['machine']> = {
  name: 'home',
  fresh: () => freshHome(),
  deeds: { 'a file changes': sent({ type: 'fact.recorded', event: 'org:changed', payload: {} }) },
  same: ({ snapshot: { context } }) => String(Math.min(2, context.facts)),
  holds: (life) =>
    expect(life.frames('org:changed').length, 'every fact is told').to.equal(life.snapshot.context.facts),
};

type File = ReturnType<typeof freshFile>;
const files: SmallWorld<File['machine']> = {
  name: 'file',
  fresh: () => freshFile(),
  deeds: {
    'it is removed': sent({ type: 'file.remove' }),
    'an agent tries to remove it': sent({ type: 'file.remove', by: outsider }),
  },
  same: ({ value }) => String(value),
  holds(life) {
    expect(life.frames('file:uploaded').length, 'told of once').to.equal(1);
    expect(life.frames('file:deleted').length, 'removed once').to.equal(life.value === 'removed' ? 1 : 0);
  },
};

type Challenge = ReturnType<typeof freshChallenge>;
const challenges: SmallWorld<Challenge['machine']> = {
  name: 'pairing',
  fresh: () => freshChallenge(),
  deeds: {
    'it is redeemed': sent({ type: 'challenge.redeem' }),
    'it is spent': sent({ type: 'challenge.spend' }),
    'an agent redeems it': sent({ type: 'challenge.redeem', by: outsider }),
    'the proof is one': finish('proof', { proven: true }),
    'the proof is none': finish('proof', { proven: false }),
    'the look breaks': fail('proof', 'broken'),
    'the file is cleared': finish('clearing', null),
    'the clearing breaks': fail('clearing', 'broken'),
    'time passes': wait,
  },
  same: ({ value }) => String(value),
  holds(life) {
    expect(life.started.filter(({ src }) => src === 'proof').length, 'looked at once at most').to.be.at.most(
      1,
    );
    if (life.snapshot.status === 'done')
      expect(life.started.length, 'the file is removed whatever happened').to.equal(1);
    expect(life.timers.size, 'nothing waits for ever').to.equal(
      ['open', 'proven'].includes(String(life.value)) ? 1 : 0,
    );
  },
};

type Code = ReturnType<typeof freshCode>;
const codes: SmallWorld<Code['machine']> = {
  name: 'pairing-code',
  fresh: () => freshCode(),
  deeds: {
    'it is redeemed': sent(redeem),
    'an agent redeems it': sent({ ...redeem, by: outsider }),
    'the device is written': finish('device', null),
    'the device cannot be written': fail('device', 'the disk is full'),
    'time passes': wait,
  },
  same: ({ value }) => String(value),
  holds(life) {
    expect(life.started.length, 'one device at most').to.be.at.most(1);
    expect(life.frames('device:paired').length, 'told of once it is written').to.equal(
      life.value === 'redeemed' ? 1 : 0,
    );
    expect(life.timers.size, 'a code that is not redeemed ends').to.equal(life.value === 'valid' ? 1 : 0);
  },
};

const budgets: SmallWorld<ReturnType<typeof freshBudget>['machine']> = {
  name: 'budget',
  fresh: freshBudget,
  deeds: {
    'a turn costs little': (life) => {
      life.send(spend(3));
    },
    'a turn costs much': (life) => {
      life.send(spend(9));
    },
    'a person grants more': (life) => {
      life.send(grant(10));
    },
    'an agent grants itself more': (life) => {
      life.send({ ...grant(10), by: outsider });
    },
    'a month goes by': (life) => {
      life.at += 31 * 86_400_000;
    },
  },
  same: ({ value, snapshot: { context } }) =>
    `${String(value)} ${Math.min(context.spentUsd, 30)} ${Math.min(context.grantedUsd, 20)}`,
  holds: ({ value, snapshot: { context } }) => {
    expect(value).to.equal(bandOf(context));
  },
};

const jobs: SmallWorld<ReturnType<typeof freshJob>['machine']> = {
  name: 'schedule',
  fresh: () => freshJob({ schedule: '0 9 * * *' }),
  deeds: {
    'the alarm rings': wait,
    'a person fires it': sent({ type: 'job.trigger' }),
    'it is switched off': sent({ type: 'job.edit', patch: { enabled: false }, zone: 'UTC' }),
    'it is switched on': sent({ type: 'job.edit', patch: { enabled: true }, zone: 'UTC' }),
    'it is deleted': sent({ type: 'job.delete' }),
    'an agent deletes it': sent({ type: 'job.delete', by: outsider }),
    'a run ends': (life) => {
      const [id] = life.effects.keys();
      if (id !== undefined) life.finish(id, run());
    },
    'its name is used again': (life) => {
      const { name, schedule, timezone, engine, model, effortLevel, employee, prompt, delivery, missed } = (
        life.snapshot as ReturnType<typeof freshJob>['snapshot']
      ).context;
      life.send({
        type: 'job.revive',
        job: {
          name,
          enabled: true,
          schedule,
          timezone,
          engine,
          model,
          effortLevel,
          employee,
          prompt,
          delivery,
          missed,
        },
        zone: 'UTC',
        managedBy: null,
        workflowId: null,
      });
    },
  },
  same: ({ value, snapshot: { context } }) =>
    `${String(value)} ${context.enabled} ${Math.min(context.active.length, 2)} ${context.lastRun === null}`,
  holds: (life) => {
    const { context } = life.snapshot;
    expect(life.timers.has('due'), 'an alarm exactly while there is a next instant').to.equal(
      context.nextAt !== null && life.value === 'scheduled',
    );
    expect(context.nextAt === null || context.nextAt > context.doneUntil).to.equal(true);
  },
};

const cronFires: SmallWorld<ReturnType<typeof freshFire>['machine']> = {
  name: 'cron-fire',
  fresh: () => freshFire(),
  never: { begun: 'left in the step that enters it' },
  deeds: {
    'it is launched': finish('launch', { sessionId: 's1', workItemId: 'TRP-1' }),
    'it cannot be launched': fail('launch', 'no such employee'),
    'the work is done': sent({
      type: 'work.ended',
      sessionId: 's1',
      outcome: 'succeeded',
      text: 'gold',
      error: null,
      by: { type: 'system', part: 'session:s1' },
    }),
    'the work fails': sent({
      type: 'work.ended',
      outcome: 'failed',
      text: '',
      error: 'no gold',
      by: { type: 'system', part: 'session:s1' },
    }),
    'a person says that it is done': sent({
      type: 'work.ended',
      outcome: 'succeeded',
      text: 'gold',
      error: null,
    }),
    'the record is written': finish('record', undefined),
    'the record cannot be written': fail('record', 'disk full'),
  },
  same: ({ value, snapshot: { context } }) => `${String(value)} ${context.status} ${context.sessionId}`,
  holds: ({ value, snapshot: { context } }) => {
    expect(context.status === 'started').to.equal(value === 'launching' || value === 'working');
  },
};

const webhooks: SmallWorld<ReturnType<typeof freshTrigger>['machine']> = {
  name: 'trigger',
  fresh: () => freshTrigger(),
  deeds: {
    'its event has come': sent({
      type: 'binding.fired',
      outcome: 'started',
      by: { type: 'system', part: 'workflow-events' },
    }),
    'a person says that its event has come': sent({ type: 'binding.fired', outcome: 'started' }),
    'it is taken away': sent({ type: 'binding.delete' }),
    'its name is used again': sent({ type: 'binding.revive', binding: triggerFields() }),
  },
  same: ({ value, snapshot: { context } }) =>
    `${String(value)} ${Math.min(context.fired, 1)} ${Math.min(context.revision, 2)}`,
  holds: ({ value, snapshot: { context } }) => {
    expect(context.tokenHash === '', 'no secret opens what is gone').to.equal(value === 'deleted');
  },
};

const looks: SmallWorld<ReturnType<typeof freshPoll>['machine']> = {
  name: 'poll',
  fresh: () => freshPoll(),
  deeds: {
    'a person approves': sent({ type: 'activation.decide', decision: 'approve' }),
    'a person rejects': sent({ type: 'activation.decide', decision: 'reject', note: 'no' }),
    'an agent approves': sent({ type: 'activation.decide', decision: 'approve', by: outsider }),
    'a person approves what is no more': sent({
      type: 'activation.decide',
      decision: 'approve',
      contractHash: 'older',
    }),
    'it is urgent': sent({ type: 'activation.escalate', reason: 'soon' }),
    'time passes': wait,
    'the look finds nothing': finish('check', { outcome: 'no-fire' }),
    'the look fails': fail('check', 'no such folder'),
    'the program fails': finish('check', { outcome: 'nonzero', reason: '1' }),
    'the look finds something': finish('check', { outcome: 'fire', payload: { from: 'you' }, fireRef: 'm1' }),
    'the program is another one': finish('check', {
      outcome: 'revoked',
      measured: { contract: changed('b'.repeat(64)), contractHash: 'second' },
    }),
    'the run is started': finish('fire', { outcome: 'fired', runId: 'r1' }),
    'there is no workflow': finish('fire', { outcome: 'missing-workflow' }),
    'the run cannot be started': fail('fire', 'the disk is full'),
    'it is taken away': sent({ type: 'binding.delete' }),
    'its name is used again': sent({ type: 'binding.revive', binding: pollFields() }),
  },
  same: ({ value, snapshot: { context } }) =>
    `${JSON.stringify(value)} ${context.contractHash} ${Math.min(context.tries, 5)} ${Math.min(context.failures, 1)}`,
  holds: (life) => {
    const {
      value,
      snapshot: {
        context: { approval, occurrence, revision },
      },
    } = life;
    const active = typeof value === 'object';
    expect(approval.decision === 'approved', 'active exactly while a person says so').to.equal(
      active || (value === 'deleted' && approval.decision === 'approved'),
    );
    expect(occurrence !== null, 'what was found is kept until its run is there').to.equal(
      active && ['firing', 'retrying'].includes(String((value as Record<string, unknown>)['active'])),
    );
    expect([...life.effects.keys()].length <= 1 && revision >= 1, 'one look at a time').to.equal(true);
  },
};

type Notifier = ReturnType<typeof freshNotifier>;
const notifiers: SmallWorld<Notifier['machine']> = {
  name: 'notifier',
  fresh: () => freshNotifier(),
  deeds: {
    'a thing begins to wait': (life) => {
      const { notices, noticed } = (life.snapshot as Notifier['snapshot']).context;
      if (notices.length < 2) life.send(held(thing(`t${noticed}`)));
    },
    'what waits is named again': (life) => {
      const [known] = (life.snapshot as Notifier['snapshot']).context.notices;
      life.send(held(...(known === undefined ? [] : [thing(known.key.split('/')[2])])));
    },
    'a thing is decided elsewhere': (life) => {
      const waits = (life.snapshot as Notifier['snapshot']).context.notices.find(
        ({ outcome }) => outcome === null,
      );
      if (waits !== undefined) life.send(over(waits.n));
    },
    'the message arrives': finish('message', { outcome: 'sent', messageId: 'm' }),
    'the message is refused': finish('message', { outcome: 'failed', reason: 'no' }),
    'the sending breaks': fail('message', 'cut'),
    'a person hurries it': sent({ type: 'notifier.retry' }),
    'the destination is taken away': sent({ type: 'notifier.stop', by: system('notifications') }),
    'the destination is back': sent({
      type: 'notifier.start',
      destination: { type: 'command' },
      by: system('notifications'),
    }),
    'time passes': wait,
  },
  same: ({ value, at, snapshot: { context } }) =>
    JSON.stringify([
      value,
      context.current?.type,
      context.notices.map(({ state, dueAt }) => [state, dueAt <= at]),
      Math.min(5, context.failures),
    ]),
  holds(life) {
    const { context, value } = life.snapshot;
    expect(life.effects.has('message'), 'a message exactly while sending').to.equal(value === 'sending');
    if (value === 'sending') expect(context.current).to.not.equal(null);
    if (value === 'idle' || value === 'holding') expect(context.current).to.equal(null);
    if (value === 'idle')
      expect(
        context.notices.filter(({ state }) => state !== 'sent' && state !== 'closed'),
        'nothing is left to say',
      ).to.deep.equal([]);
    if (value === 'stopped') expect(context.notices).to.deep.equal([]);
    const open = context.notices.filter(({ outcome }) => outcome === null).map(({ key }) => key);
    expect(new Set(open).size, 'one notice of a thing that waits').to.equal(open.length);
    const rows = new Map(life.rows('notices').map((row) => [row.n, row.row !== null]));
    expect(
      [...rows].filter(([, isThere]) => isThere).map(([n]) => n),
      'a row of each notice, and of no other',
    ).to.have.members(context.notices.map(({ n }) => n));
  },
};

const heldDecisions: SmallWorld<ReturnType<typeof freshHeld>['machine']> = {
  name: 'held-decision',
  fresh: freshHeld,
  deeds: {
    'it is withdrawn': sent(withdraw),
    'an agent withdraws it': sent({ ...withdraw, by: outsider }),
    'its route takes it': finish('decide', { refusal: null }),
    'its route refuses it': finish('decide', { refusal: 'No.' }),
    'the gateway cannot answer': fail('decide', 'starting'),
    'time passes': wait,
  },
  same: ({ value, snapshot: { context } }) => JSON.stringify([value, context.tries]),
  holds(life) {
    const { context, value } = life.snapshot;
    expect(life.effects.has('decide'), 'asked exactly while deciding').to.equal(value === 'deciding');
    if (value === 'held' || value === 'withdrawn')
      expect(life.started, 'nothing was decided').to.deep.equal([]);
    const told = ['withdrawn', 'carried-out', 'refused'].flatMap((name) => life.frames(`decision:${name}`));
    expect(told.length, 'one outcome').to.equal(life.timers.size + life.effects.size === 0 ? 1 : 0);
    expect(context.reason !== null).to.equal(value === 'refused');
  },
};

const workers: SmallWorld<ReturnType<typeof freshWorker>['machine']> = {
  name: 'worker',
  fresh: freshWorker,
  deeds: {
    'it is invited again': sent({ type: 'worker.invite', codeHash: joinWorker.codeHash }),
    'it joins': sent(joinWorker),
    'it connects': sent(connect),
    'it is drained': sent({ type: 'worker.drain' }),
    'it is taken back': sent({ type: 'worker.resume' }),
    'it is removed': sent({ type: 'worker.remove' }),
    'an agent removes it': sent({ type: 'worker.remove', by: outsider }),
    'time passes': wait,
  },
  same: ({ value, snapshot: { context } }) => JSON.stringify([value, Math.min(context.epoch, 2)]),
  holds({ value, snapshot: { context } }) {
    expect(context.tokenHash !== null, 'a token where it has joined').to.equal(
      value === 'serving' || value === 'draining',
    );
    expect(context.codeHash !== null, 'a code where it is invited').to.equal(value === 'invited');
  },
};

export const worlds = [
  sessions,
  freeSessions,
  items,
  connectors,
  roots,
  homes,
  files,
  budgets,
  jobs,
  cronFires,
  challenges,
  codes,
  webhooks,
  looks,
  notifiers,
  heldDecisions,
  workers,
  // Each is typed by its own machine above; together they are only walked through
] as unknown as readonly SmallWorld[];
