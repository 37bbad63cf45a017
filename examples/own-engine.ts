/**
 * An engine of your own: how a session talks to some agent program. This one answers in lines of JSON, as many do:
 * pieces of text as they come, its own name for the conversation, and at the end what it cost.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSupervisor, memoryStore } from 'troupe';
import { createAgents, defineEngine, type TurnResult } from 'troupe/agents';

// Stands for the agent program: it remembers its conversation by an id, so that no turn need repeat the past.
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
  discover: async () => ({
    available: true, // asked often: look whether the program is there, start nothing that costs
    executable: process.execPath,
    defaultModel: 'backwards-1',
    models: [{ id: 'backwards-1', label: 'Backwards', supportsEffort: false, effortLevels: [] }],
  }),

  async turn(request, io): Promise<TurnResult> {
    const named = request.nativeId === null ? [] : [request.nativeId];
    let text = '';
    let usage: TurnResult['usage'];
    let rest = '';
    const child = await io.spawn(process.execPath, ['-e', program, ...named], {
      cwd: request.cwd,
      env: request.env,
      stdin: request.prompt,
      silenceMs: request.silenceMs,
      deadlineMs: request.deadlineMs,
      onStdout(chunk) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const said of lines.map((line) => JSON.parse(line) as Said)) {
          text += said.text ?? '';
          if (said.text !== undefined) io.report({ type: 'text', text: said.text }); // streamed at once
          // Kept, and given to the next turn
          const nativeId = said.conversation;
          if (nativeId !== undefined) io.report({ type: 'conversation.named', nativeId });
          usage = said.usage ?? usage;
        }
      },
    });
    const { exitCode, ended, stderr } = await child.done; // the whole process group is gone
    if (ended === 'interrupted') return { outcome: ended, text };
    if (exitCode !== 0) return { outcome: 'failed', text, error: `ended with ${exitCode}: ${stderr}` };
    return { outcome: 'succeeded', text: text.trim(), ...(usage && { usage }) };
  },
});
type Said = { text?: string; conversation?: string; usage?: NonNullable<TurnResult['usage']> };

const workFolder = await mkdtemp(join(tmpdir(), 'troupe-example-'));
const agents = createAgents({ engines: [reverser], workFolder });
const supervisor = await createSupervisor({ kinds: agents.kinds, store: memoryStore() });
supervisor.onProgress(({ payload }) => void process.stdout.write((payload as { content: string }).content));

const input = await agents.session({ prompt: 'one two three' });
await supervisor.spawn('session', { id: 's1', input });
const session = supervisor.handle('session', 's1');
await new Promise<void>((resolve) => {
  session.subscribe(({ value }) => (JSON.stringify(value) === '{"resting":"idle"}' ? resolve() : undefined));
});
const view = (await supervisor.get('session', 's1'))?.view;
console.log('\nconversation', view?.engineSessionId, 'used', JSON.stringify(view?.usage));
for (const { row } of await supervisor.rows(session, 'messages')) console.log(row.content);

await supervisor.stop();
await rm(workFolder, { recursive: true });
