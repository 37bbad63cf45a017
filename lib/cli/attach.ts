import type { Command } from 'commander';
import { isRefusal } from '../client/index.js';
import { PermissionQuestions } from './ask-permission.js';
import { connect, reached, refused, sessionNamed } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { plainText } from './print.js';
import { showTurn } from './show-turn.js';

/** `troupe attach <session>`: watch the turn that runs, and answer what its agent asks. */
export function attachCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('attach').description('watch a running session and answer what its agent asks'))
    .argument('<session>', 'id of the session, or the beginning of it')
    .action(async (typed: string, options: HomeOptions) => {
      const layout = homeOf(options, terminal);
      const client = await connect(layout);
      const id = await sessionNamed(client, typed);
      const isInteractive = process.stdin.isTTY && process.stderr.isTTY;
      const questions = new PermissionQuestions(client, layout, terminal, isInteractive);
      const { gateway, announcement } = client;
      const run = await reached(announcement.url, gateway.sessions.attach(id, { giveUpAfterMs: 5_000 }));
      if (isRefusal(run)) throw refused(run);
      try {
        const session = await client.get('/api/sessions/{id}', {
          params: { path: { id }, query: { last: '1' } },
        });
        if (session.status !== 'running')
          return terminal.out(
            `The session is ${session.status}. Its last words:\n` +
              `${plainText(session.messages?.at(-1)?.content ?? '', { keepLines: true })}`,
          );
        for (const { id: permissionId, state } of await client.get('/api/sessions/{id}/permissions', {
          params: { path: { id } },
        }))
          if (state === 'pending')
            questions.take(id, { type: 'permission', content: '', permissionId, state });
        const shown = await reached(announcement.url, showTurn(run, { terminal, layout, questions }));
        if (shown === 'an open line') terminal.out('');
        terminal.say('The turn is over.');
      } finally {
        run.close();
      }
    });
}
