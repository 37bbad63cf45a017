import { isWithin } from '../../../actors/sandbox/levels.js';
import { withPort } from '../../../actors/session/turn-sandbox.js';
import { piecesOf } from '../../../actors/start-program.js';
import { Unreadable } from '../../records/files/file-room.js';
import type { GatewayActor } from '../app.js';
import { levelOf } from '../changes/work-place.js';
import type { Request } from '../request.js';

/**
 * What the gateway reads or fetches for an agent, the agent could have read or fetched itself: it has its own way to
 * the files of its folder and to the network, which no sandbox is around.
 */
export interface AgentReach {
  /** The bytes of a file as its programs would read them; rejects with `Unreadable`. Undefined: it is not confined. */
  readonly readAs: ((path: string) => AsyncIterable<Uint8Array>) | undefined;
  /** `host:port`: no other. Undefined: any. */
  readonly hosts: readonly string[] | undefined;
}

/**
 * `const { readAs, hosts } = await reachOf(request, session)`; a person reaches any address for it. `isElsewhere`: its
 * folder is on another machine, and no file of this one is in its reach.
 */
export async function reachOf(
  { app, caller }: Pick<Request, 'app' | 'caller'>,
  session: GatewayActor<'session'>,
  isElsewhere = false,
): Promise<AgentReach> {
  const { sandbox } = app;
  if (sandbox === undefined) return { readAs: undefined, hosts: undefined };
  const level = levelOf(app, session.view);
  const { level: inForce, isRefused } = await sandbox.port.inForce(level);
  return {
    readAs:
      isElsewhere || (inForce === 'off' && !isRefused)
        ? undefined
        : async function* read(path) {
            const command = {
              program: 'cat',
              args: ['--', path],
              cwd: session.view.cwd,
              env: { PATH: process.env['PATH'] ?? '' },
            };
            try {
              const { program, args, cwd, env } = await sandbox.port.confine(command, level);
              yield* piecesOf(program, args, { cwd, env, timeoutMs: readMsMax });
            } catch (cause) {
              throw new Unreadable('The agent cannot read this file.', { cause });
            }
          },
    hosts: caller.type === 'session' && isWithin(level, 'strict') ? sandbox.hosts().map(withPort) : undefined,
  };
}

const readMsMax = 30_000;
