/**
 * A connector of your own: a way out for messages. This one pins notes to a board, which is a file. Every
 * message is recorded before it is sent, sent once, and recorded again with its outcome: `sent`, `failed`, or
 * `unknown` where a crash came in between and sending again would be wrong.
 */
import { access, appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSupervisor, isRefusal, memoryStore } from 'troupe';
import { createAgents } from 'troupe/agents';
import { defineConnector } from 'troupe/connectors';

const board = defineConnector({
  type: 'board',
  capabilities: { threading: false, messageEdits: false, reactions: false, attachments: false },
  async open(settings) {
    const file = settings['file'];
    // A sentence for a person: it becomes the connector's state
    if (typeof file !== 'string') throw new Error('A board needs the setting "file".');
    return {
      async send({ channel, text, key }) {
        // `key` is the same if this very message is ever tried again: pass it on where the far side can tell
        // twins apart.
        await appendFile(file, `[${channel}] ${text} (${key})\n`);
        return { outcome: 'sent' as const };
      },
      probe: () => access(join(file, '..')),
      close: async () => undefined,
    };
  },
});

const folder = await mkdtemp(join(tmpdir(), 'troupe-example-'));
const file = join(folder, 'board.txt');
const agents = createAgents({
  engines: [],
  workFolder: folder,
  connectors: [board],
  connectorInstances: () => [{ name: 'kitchen', type: 'board', employee: null, settings: { file } }],
});
const supervisor = await createSupervisor({ kinds: agents.kinds, store: memoryStore() });

await supervisor.spawn('connector', {
  id: 'kitchen',
  input: { name: 'kitchen', connectorType: 'board', employee: null, capabilities: { ...board.capabilities } },
});
// An answer that is an outcome: wait until the link is open, then until the message is settled.
const running = ({ view }: { view: unknown }) => (view as { status: string }).status === 'running';
await supervisor.ask('connector', 'kitchen', { type: 'connector.start' }, { until: running });
const settled =
  (deliveryId: string) =>
  ({ view }: { view: unknown }) =>
    (view as { last: { deliveryId: string } | null }).last?.deliveryId === deliveryId;
const answer = await supervisor.ask(
  'connector',
  'kitchen',
  {
    type: 'delivery.request',
    deliveryId: 'd1',
    channel: 'fridge',
    text: 'We are out of milk.',
    thread: null,
  },
  { until: settled('d1') },
);
console.log(
  'outcome:',
  isRefusal(answer) ? answer.message : (answer.view as { last: { outcome: string } }).last.outcome,
);
console.log('on the board:', (await readFile(file, 'utf8')).trim());

await supervisor.stop();
await rm(folder, { recursive: true });
