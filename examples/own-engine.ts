/**
 * An engine of your own: how a session talks to some agent program. This one's program answers in lines of
 * JSON, as many agent programs do: pieces of text as they come, its own name for the conversation, and at the
 * end what it cost.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSupervisor, memoryStore } from 'troupe';
import { createAgents, defineEngine, type TurnResult } from 'troupe/agents';
import type { AnyMachineSnapshot } from 'xstate';

// Stands for the agent program. It remembers its conversation by an id, so that the next turn need not repeat
// the past.
const program = `
  const say = (line) => console.log(JSON.stringify(line));
  let prompt = '';
  process.stdin.on('data', (piece) => { prompt += piece; }).on('end', () => {
    say({ conversation: process.argv[1] ?? 'c-1' });
    for (const word of prompt.trim().split(' ').reverse()) say({ text: word + ' ' });
    say({ usage: { inputTokens: prompt.length, outputTokens: prompt.length } });
  });`;

const reverser = defineEngine({
  name: 'reverser',
  effortMechanism: 'none',
  // Asked often: look whether the program is there, start nothing that costs.
  discover: async () => ({
    available: true,
    executable: process.execPath,
    defaultModel: 'backwards-1',
    models: [{ id: 'backwards-1', label: 'Backwards', supportsEffort: false, effortLevels: [] }],
  }),

  async turn(request, io): Promise<TurnResult> {
    let text = '';
    let usage: TurnResult['usage'];
    let rest = '';
    const child = await io.spawn(
      process.execPath,
      ['-e', program, ...(request.nativeId === null ? [] : [request.nativeId])],
      {
        cwd: request.cwd,
        env: request.env,
        stdin: request.prompt,
        silenceMs: request.silenceMs,
        deadlineMs: request.deadlineMs,
        onStdout(chunk) {
          const lines = (rest + chunk).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) {
            const said = JSON.parse(line) as {
              text?: string;
              conversation?: string;
              usage?: NonNullable<TurnResult['usage']>;
            };
            if (said.text !== undefined) {
              text += said.text;
              io.report({ type: 'text', text: said.text }); // streamed to watchers at once
            }
            // Kept, and given to the next turn
            if (said.conversation !== undefined)
              io.report({ type: 'conversation.named', nativeId: said.conversation });
            usage = said.usage ?? usage;
          }
        },
      },
    );
    const { exitCode, ended, stderr } = await child.done; // the whole process group is gone
    if (ended === 'interrupted') return { outcome: 'interrupted', text };
    if (exitCode !== 0)
      return {
        outcome: 'failed',
        text,
        error: `The reverser ended with ${exitCode}: ${stderr.slice(0, 200)}`,
      };
    return { outcome: 'succeeded', text: text.trim(), ...(usage === undefined ? {} : { usage }) };
  },
});

const workFolder = await mkdtemp(join(tmpdir(), 'troupe-example-'));
const agents = createAgents({ engines: [reverser], workFolder });
const supervisor = await createSupervisor({ kinds: agents.kinds, store: memoryStore() });
supervisor.onProgress(({ payload }) => void process.stdout.write((payload as { content: string }).content));

const { id } = (await supervisor.spawn('session', {
  input: await agents.session({ prompt: 'one two three' }),
})) as { id: string };
await new Promise<void>((resolve) => {
  supervisor.handle('session', id).subscribe((snapshot) => {
    if ((snapshot as AnyMachineSnapshot).matches({ resting: 'idle' })) resolve();
  });
});
type Reported = { engineSessionId: string; usage: object };
const reported = (await supervisor.get('session', id))?.view as Reported | undefined;
console.log('\nconversation', reported?.engineSessionId, 'used', JSON.stringify(reported?.usage));
for (const { row } of await supervisor.rows({ kind: 'session', id }, 'messages'))
  console.log((row as { content: string }).content);

await supervisor.stop();
await rm(workFolder, { recursive: true });
