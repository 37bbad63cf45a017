import type { TurnInput, SandboxInForce } from '../../machines/session/context.js';
import type { Engine } from '../engines/engine.js';
import { isWithin, type SandboxLevel } from '../sandbox/levels.js';
import type { Command, Confined, InForce, Sandbox } from '../sandbox/sandbox.js';

/** How the programs of turns are confined. */
export interface TurnSandbox {
  readonly port: Sandbox;
  /** Is a turn refused that cannot be confined as asked? Asked for turns on other machines. */
  isRequired?(): boolean;
  /** The narrowest of the instance's level and those of these employees. */
  levelOf(employees: readonly string[]): SandboxLevel;
  /** Each turn, once it is known what holds in it. */
  onTurn?(sessionId: string, asked: SandboxLevel, inForce: InForce): void;
  /** The repository that a session's working folder is a copy of; a clone borrows its objects and writes none. */
  originOf?(sessionId: string): Promise<{ readonly origin: string; readonly isClone: boolean } | undefined>;
  /** Before anything of the turn starts in its working folder; may reject. */
  beforeTurn?(sessionId: string, level: SandboxLevel): Promise<void>;
  /** When nothing of the turn is left; `level` is for programs in its working folder. */
  afterTurn?(sessionId: string, level: SandboxLevel): Promise<void>;
  /** At `strict`: the session's own socket to the gateway, and a way to the hosts that are named. */
  openLink?(sessionId: string, hosts: readonly string[]): Promise<TurnLink>;
}

export interface TurnLink {
  /** Path of the socket; the same for a session's whole life. */
  readonly socket: string;
  close(): void;
}

/** One turn in its sandbox. */
export interface ConfinedTurn {
  /** For the session's record. */
  readonly record: SandboxInForce;
  /** For programs in the working folder that the engine does not start: other agents may have written in it. */
  readonly folderLevel: SandboxLevel;
  /** Why nothing may be started. */
  readonly refusal: string | undefined;
  /** Where the agent reaches the gateway from within. */
  readonly gatewayUrl: string | undefined;
  confine(command: Command): Promise<Confined>;
  /** When nothing of the turn is left, or when another gateway will see to that; may reject. */
  close(how: { readonly isLeft: boolean }): Promise<void>;
}

export interface TurnPlace {
  readonly sessionId: string;
  readonly engine: Engine;
  readonly gatewayUrl: string | undefined;
  /** Files that came with the messages. */
  readonly files: readonly string[];
  /** It has begun under an earlier gateway: what is prepared before a turn is there. Default: no. */
  readonly isAdopted?: boolean;
}

/** `const turn = await openSandbox(sandbox, input, {sessionId, engine, gatewayUrl, files})` */
export async function openSandbox(
  sandbox: TurnSandbox,
  input: Pick<TurnInput, 'employee' | 'confinedAs' | 'cwd' | 'nativeId'>,
  { sessionId, engine, gatewayUrl, files, isAdopted = false }: TurnPlace,
): Promise<ConfinedTurn> {
  const folderLevel = sandbox.levelOf(employeesOf(input));
  if (!isAdopted) await sandbox.beforeTurn?.(sessionId, folderLevel);
  const asked = engine.isInProcess === true ? 'off' : folderLevel;
  const inForce = await sandbox.port.inForce(asked);
  sandbox.onTurn?.(sessionId, asked, inForce);
  const hosts = (engine.hosts ?? []).map(withPort);
  const isLinked = inForce.level === 'strict' && !inForce.isRefused;
  const link = isLinked ? await sandbox.openLink?.(sessionId, hosts) : undefined;
  const url = link === undefined || gatewayUrl === undefined ? gatewayUrl : onLoopback(gatewayUrl);
  const proxy = link === undefined || url === undefined ? {} : proxyVariables(url);
  return {
    record: { level: inForce.level, asked, reason: inForce.lacking?.reason ?? null },
    folderLevel,
    refusal: inForce.isRefused
      ? `The sandbox level "${asked}" is required here and not available. ${inForce.lacking?.reason} ` +
        `${inForce.lacking?.remedy}`
      : undefined,
    gatewayUrl: url,
    async confine(command) {
      const copy = await sandbox.originOf?.(sessionId);
      const isWritable = copy?.isClone === false && !isWithin(inForce.level, 'workspace');
      const own = (await engine.folders?.({ sessionId, cwd: input.cwd, nativeId: input.nativeId })) ?? {};
      return sandbox.port.confine(
        {
          ...command,
          sessionId,
          env: { ...proxy, ...command.env },
          folders: {
            ...own,
            reads: [...(own.reads ?? []), ...files],
            ...(copy && { origin: { path: copy.origin, isWritable } }),
          },
          ...(link !== undefined &&
            url !== undefined && {
              link: {
                socket: link.socket,
                proxyPort: Number(new URL(url).port),
                ports: loopbackPorts(hosts),
              },
            }),
        },
        asked,
      );
    },
    async close({ isLeft }) {
      link?.close();
      if (!isLeft) await sandbox.afterTurn?.(sessionId, folderLevel);
    },
  };
}

/** Its own, and those of the agents that stand behind it. */
export const employeesOf = ({
  employee,
  confinedAs = [],
}: Pick<TurnInput, 'employee' | 'confinedAs'>): readonly string[] =>
  employee === null ? confinedAs : [employee, ...confinedAs];

/** Within, the only address there is: of a port that anyone may listen on. */
function onLoopback(url: string): string {
  const port = Number(new URL(url).port);
  return `http://127.0.0.1:${port >= 1_024 ? port : unprivilegedPort}`;
}

const unprivilegedPort = 7_420;

/** `withPort('api.example') // 'api.example:443'` */
export const withPort = (host: string): string => (/:\d+$/.test(host) ? host : `${host}:443`);

/** A provider on this machine is reached under its own address: its port is carried, too. */
const loopbackPorts = (hosts: readonly string[]): readonly number[] =>
  hosts.filter((host) => /^(?:127\.0\.0\.1|localhost):/.test(host)).map((host) => Number(host.split(':')[1]));

function proxyVariables(url: string): Readonly<Record<string, string>> {
  const near = '127.0.0.1,localhost';
  return {
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    http_proxy: url,
    https_proxy: url,
    NO_PROXY: near,
    no_proxy: near,
  };
}

/**
 * For the registry: where a sandbox is required and not there, anyone who starts programs is unavailable, never
 * silently bare.
 */
export const lackingSandbox =
  ({ port, levelOf }: TurnSandbox) =>
  async (engine: Engine): Promise<InForce['lacking']> => {
    const inForce = await port.inForce(engine.isInProcess === true ? 'off' : levelOf([]));
    return inForce.isRefused ? inForce.lacking : undefined;
  };
