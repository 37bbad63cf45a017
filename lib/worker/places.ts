import { mkdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { ownChoice } from '../../actors/engines/agent/program.js';
import type { Engine, TurnRequest } from '../../actors/engines/engine.js';
import { narrower, type SandboxLevel } from '../../actors/sandbox/levels.js';
import { createSandbox, type Command, type Confined, type Sandbox } from '../../actors/sandbox/sandbox.js';
import { judgedSettings, leftOut, wantsTrust } from '../../actors/session/turn-folder.js';
import { openSandbox, type ConfinedTurn, type TurnLink } from '../../actors/session/turn-sandbox.js';
import { sentence } from '../../actors/session/turn-outcome.js';
import type { PreparedTurn, TurnPreparation } from './wire.js';

/**
 * The machine of a worker, as its user lets turns use it: in which folders they work, and how far their programs are
 * kept. A gateway may ask for less than that, never for more.
 */
export interface Places {
  /** `open` is missing where the turn may not run here; the answer says why. Never rejects. */
  open(
    turn: TurnPreparation,
    engine: Engine | undefined,
  ): Promise<{ readonly answer: PreparedTurn; readonly open?: OpenPlace }>;
}

/** One turn in its place. */
export interface OpenPlace {
  /** What the gateway asks for, with folder and addresses as they are here. */
  requestOf(request: TurnRequest): TurnRequest;
  confine(command: Command): Promise<Confined>;
  close(): Promise<void>;
}

export interface PlacesOptions {
  /** The worker's home and key: no agent sees them. */
  readonly hidden: readonly string[];
  /** Of a turn, or of each of its processes where no scope can be made. Undefined: not bounded. */
  readonly memoryBytesMax?: () => number | undefined;
  /** Where sessions work that name no folder; below the worker's home, and made when missing. */
  readonly work: string;
  /** Folders in which agents may work beside that one. */
  readonly roots: readonly string[];
  /** The least that holds for every turn. */
  readonly level: SandboxLevel;
  /** Refuse turns that cannot be confined as asked, whatever the gateway says. */
  readonly isRequired: boolean;
  readonly programs: readonly string[];
  /** Where agents here reach the gateway. */
  readonly gatewayUrl: string;
  /** At `strict`: the session's own way to the gateway and to these hosts. */
  readonly openLink: (sessionId: string, hosts: readonly string[]) => Promise<TurnLink>;
}

/** `const places = openPlaces({ hidden: [home], work: join(home, 'work'), roots: ['/srv'], level: 'off', … })` */
export function openPlaces(options: PlacesOptions): Places {
  const sandboxes = new Map<boolean, Sandbox>();
  function sandbox(isRequired: boolean): Sandbox {
    const known = sandboxes.get(isRequired);
    if (known !== undefined) return known;
    const made = createSandbox({
      hidden: () => Promise.resolve(options.hidden),
      ownFolders: [options.work],
      isRequired: () => isRequired,
      programs: () => options.programs,
      ...(options.memoryBytesMax && { memoryBytesMax: options.memoryBytesMax }),
    });
    sandboxes.set(isRequired, made);
    return made;
  }

  async function judge(turn: TurnPreparation, engine: Engine): Promise<Judged | string> {
    // It becomes the name of a folder, and of what its engine keeps
    if (!/^[\w:-][\w.:-]{0,199}$/.test(turn.sessionId)) return 'The id of the session is none.';
    const cwd = await folderFor(turn, options);
    if (cwd === undefined)
      return `The working folder ${turn.cwd} is not a folder inside the roots of this worker.`;
    const level = narrower(options.level, turn.level);
    const confined = await openSandbox(
      {
        port: sandbox(options.isRequired || turn.isRequired),
        levelOf: () => level,
        openLink: options.openLink,
      },
      { employee: null, cwd, nativeId: turn.nativeId },
      { sessionId: turn.sessionId, engine, gatewayUrl: options.gatewayUrl, files: [] },
    );
    if (confined.refusal !== undefined) {
      await confined.close({ isLeft: false });
      return confined.refusal;
    }
    const { untrusted, confirm } = await judgedSettings(engine, { cwd }, () => undefined).catch(
      async (error: unknown) => {
        await confined.close({ isLeft: false });
        throw error;
      },
    );
    if (untrusted !== undefined && engine.leavesOutSettings !== true) {
      await confined.close({ isLeft: false });
      return `${engine.name} would take over what this project sets. ${wantsTrust(untrusted)}`;
    }
    return { cwd, confined, confirm, notices: untrusted === undefined ? [] : [leftOut(untrusted)] };
  }

  return {
    async open(turn, engine) {
      const { turnId } = turn;
      const nothing = { level: 'off', asked: turn.level, reason: null };
      const refused = (fault: string) => ({
        answer: { type: 'prepared', turnId, fault, cwd: turn.cwd, sandbox: nothing, notices: [] } as const,
      });
      if (engine === undefined) return refused(`This worker has no engine "${turn.engine}".`);
      const judged = await judge(turn, engine).catch((error: unknown) => sentence(error));
      if (typeof judged === 'string') return refused(judged);
      const { cwd, confined, confirm, notices } = judged;
      return {
        answer: { type: 'prepared', turnId, cwd, sandbox: confined.record, notices },
        open: {
          requestOf: (request) =>
            requestHere(request, { turn, cwd, untrusted: notices.length > 0, confined }),
          async confine(command) {
            await confirm();
            return confined.confine(command);
          },
          close: () => confined.close({ isLeft: false }),
        },
      };
    },
  };
}

interface Judged {
  readonly cwd: string;
  readonly confined: ConfinedTurn;
  /** Just before a program starts. */
  readonly confirm: () => Promise<void>;
  readonly notices: readonly string[];
}

/** The real path, so that no link leads out of the roots; undefined: not there, or not inside. */
async function folderFor(
  { cwd, sessionId }: TurnPreparation,
  { work, roots }: PlacesOptions,
): Promise<string | undefined> {
  if (!isAbsolute(cwd) || cwd.includes('\0')) return undefined;
  if (cwd === join(work, sessionId) && /^[\w-]+$/.test(sessionId))
    await mkdir(cwd, { recursive: true, mode: 0o700 });
  const real = await realpath(cwd).catch(() => undefined);
  if (real === undefined || !(await stat(real)).isDirectory()) return undefined;
  const inside = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  if (inside.some((root) => root !== undefined && isBelow(root, real))) return real;
  // Its own, or that of a session that it reviews or works for
  const own = await realpath(work);
  return real !== own && isBelow(own, real) ? real : undefined;
}

function isBelow(root: string, path: string): boolean {
  const rest = relative(root, path);
  return rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

/** The gateway is where this worker found it, its files are not here, and what was judged is what begins. */
function requestHere(
  request: TurnRequest,
  {
    turn,
    cwd,
    untrusted,
    confined,
  }: {
    readonly turn: TurnPreparation;
    readonly cwd: string;
    readonly untrusted: boolean;
    readonly confined: ConfinedTurn;
  },
): TurnRequest {
  const { gatewayUrl: url } = confined;
  const { mcp } = request;
  const { sessionId, turnId, nativeId } = turn;
  return {
    ...request,
    ...{ sessionId, turnId, nativeId, cwd },
    files: [],
    project: untrusted ? 'untrusted' : 'plain',
    // What is left to the engine is said by its configuration here
    ...(request.model === ownChoice && { model: null }),
    ...(request.effort === ownChoice && { effort: null }),
    env: { ...ownVariables(request.env), ...(url !== undefined && { SVC_GATEWAY_URL: url }) },
    ...(mcp !== undefined && url !== undefined && { mcp: { ...mcp, url: `${url}/mcp` } }),
  };
}

/** Others change how programs start, that of the sandbox among them: LD_PRELOAD, PATH. */
const ownVariables = (env: TurnRequest['env']): TurnRequest['env'] =>
  Object.fromEntries(Object.entries(env).filter(([name]) => /^(?:SVC_[A-Z_]+|TRACEPARENT)$/.test(name)));
