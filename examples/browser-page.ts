/**
 * A page of your own that talks to a gateway with `troupe/client`: the gateway serves it, so that it has the
 * gateway's address and the cookies of the paired browser, and needs neither a token nor a build.
 *
 *     node browser-page.js /var/lib/my-agents     then open /tasks in a browser that is paired: troupe open
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { route, startInstance } from 'troupe/gateway';
import { z } from 'zod';

const script = `
import { createClient, isRefusal } from 'troupe/client';

const client = createClient(); // this page's own gateway
const form = document.querySelector('form');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const answer = document.querySelector('output');
  answer.textContent = '';
  const run = await client.sessions.run(new FormData(form).get('task'));
  if (isRefusal(run)) return void (answer.textContent = run.message);
  for await (const { type, content } of run) if (type === 'text') answer.textContent += content;
  answer.dataset.status = (await run.answer()).status;
});`;

// What a bundler of yours would do. The client has no dependency that a browser cannot load.
const bundled = await build({
  stdin: { contents: script, resolveDir: import.meta.dirname },
  bundle: true,
  format: 'esm',
  external: ['ws'],
  write: false,
});
const page = `<!doctype html><title>Tasks</title><script type="module" src="/tasks/script.js"></script>
<form><input name="task" aria-label="Task"><button>Do it</button></form><output></output>`;

const publicPage = (path: string, type: string, body: string) =>
  route(
    'GET',
    path,
    'page.docs', // everybody may read it: it holds nothing of the instance
    { about: 'A page of this program.', answer: z.string(), contentType: `${type}; charset=utf-8` },
    () => ({ body, headers: { 'Content-Security-Policy': "default-src 'self'" } }),
  );

const home = process.argv[2] ?? (await mkdtemp(join(tmpdir(), 'troupe-example-')));
const instance = await startInstance({
  home,
  port: 0,
  routes: [
    publicPage('/tasks', 'text/html', page),
    publicPage('/tasks/script.js', 'text/javascript', bundled.outputFiles[0]?.text ?? ''),
  ],
});
console.log(`${instance.url}/tasks`);

await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)));
await instance.close();
if (process.argv[2] === undefined) await rm(home, { recursive: true });
