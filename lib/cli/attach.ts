import type { Command } from 'commander';
import { PermissionQuestions } from './ask-permission.js';
import { connect } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { follow } from './follow.js';
import { plainText } from './print.js';

interface Session {
  readonly status: string;
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
  readonly pendingPermissions?: readonly { readonly id: string }[];
}

/** `troupe attach <session>`: watch the turn that runs, and answer what its agent asks. */
export function attachCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('attach').description('watch a running session and answer what its agent asks'))
    .argument('<session>', 'id of the session')
    .action(async (id: string, options: HomeOptions) => {
      const layout = homeOf(options, terminal);
      const client = await connect(layout);
      const isInteractive = process.stdin.isTTY && process.stderr.isTTY;
      const questions = new PermissionQuestions(client, layout, terminal, isInteractive);
      const following = await follow(
        client,
        (piece) => terminal.write(piece),
        (remark) => terminal.say(remark),
        (payload) => questions.take(payload),
      );
      try {
        const session = (await client.get(`/api/sessions/${encodeURIComponent(id)}?last=1`)) as Session;
        if (session.status !== 'running')
          return terminal.out(
            `The session is ${session.status}. Its last words:\n${plainText(session.messages?.at(-1)?.content ?? '', { keepLines: true })}`,
          );
        for (const { id: permissionId } of session.pendingPermissions ?? [])
          questions.take({ sessionId: id, permissionId, state: 'pending' });
        const ending = await following.until(id, { started: true });
        if (ending.shown === 'an open line') terminal.out('');
        terminal.say(ending.why === 'over' ? 'The turn is over.' : `Lost the gateway (${ending.reason}).`);
      } finally {
        following.close();
      }
    });
}
