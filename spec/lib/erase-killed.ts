import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineEngine } from '../../actors/engines/engine.js';
import { startInstance } from '../../lib/instance.js';

/** A gateway that is killed while it erases: `node erase-killed.js <home> <session>`. */
const [, , home = '', sessionId = ''] = process.argv;
const scribe = defineEngine({
  name: 'scribe',
  effortMechanism: 'none',
  isInProcess: true,
  discover: async () => ({ available: true, defaultModel: null, models: [] }),
  eraseTranscript: async () => void process.kill(process.pid, 'SIGKILL'),
  turn: async () => ({ outcome: 'succeeded', text: '' }),
});
const { url } = await startInstance({ home, port: 0, engines: [scribe] });
const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
await fetch(`${url}/api/erase`, {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ sessionId }),
});
