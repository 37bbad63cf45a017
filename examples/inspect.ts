/**
 * Watching durable actors from a program of your own: every step as it is committed, filtered, and resumed
 * where the watcher stopped. What you see is the log itself: nothing is missed, and nothing is told that is
 * not on disk.
 *
 *     node inspect.js
 */
import { setup } from 'xstate';
import { createSupervisor, defineKind, memoryStore } from 'troupe';

const machine = setup({ delays: { amber: 50 } }).createMachine({
  id: 'light',
  initial: 'red',
  states: {
    red: { on: { go: 'green' } },
    green: { on: { stop: 'yellow' } },
    yellow: { after: { amber: 'red' } },
  },
});
const light = defineKind({ kind: 'light', version: 1, machine, view: (snapshot) => snapshot.value });
const supervisor = await createSupervisor({ kinds: [light], store: memoryStore() });

let cursor = 0;

/**
 * Tell what happens to one light until it stands in a state. The next watch goes on after the last entry that
 * was seen.
 */
async function follow(id: string, until: string): Promise<void> {
  for await (const { position: seq, event, from, to, by } of supervisor.watch({
    kinds: ['light'],
    ids: [id],
    since: cursor,
  })) {
    cursor = seq;
    console.log(
      `${seq} ${(event as { type: string }).type}: ${String(from ?? 'created')} → ${String(to)} (${by})`,
    );
    if (to === until) return;
  }
}

for (const id of ['north', 'south']) await supervisor.spawn('light', { id });
await supervisor.ask('light', 'north', { type: 'go' });
await follow('north', 'green');

await supervisor.ask('light', 'south', { type: 'go' }); // happens unwatched; only north is asked for below
await supervisor.ask('light', 'north', { type: 'stop' });
await follow('north', 'red'); // by its durable timer

const why = await supervisor.why({ kind: 'light', id: 'north' }, { type: 'operator' });
console.log('may happen next:', why?.next.map(({ event }) => event).join(', '));
console.log('lights by state:', JSON.stringify(supervisor.inspection.counts('light').states));
await supervisor.stop();
