import type { SilenceRule } from '../../machines/session/context.js';
import type { ToolPolicy } from '../../machines/session/tool-policy.js';
import type { EffectContext } from '../contracts.js';
import type { BudgetPort } from '../budget/kind.js';
import type { Pool } from '../engines/pool.js';
import type { Graces, ProcessTable } from '../engines/process.js';
import type { ProjectSettings } from '../engines/project-settings.js';
import type { EngineRegistry } from '../engines/registry.js';
import type { SessionTokens } from '../engines/tokens.js';
import type { Redact } from '../engines/turn-events.js';
import type { WatchChanges } from './turn-changes.js';
import type { RemoteTurns, TurnHosts } from './turn-hosts.js';
import type { KeepText } from './turn-record.js';
import type { LiveWords } from './live-words.js';
import type { TurnSandbox } from './turn-sandbox.js';

/** What turns of sessions use of the home that they run in. */
export interface EngineTurnOptions {
  readonly registry: Pick<EngineRegistry, 'get'> & Partial<Pick<EngineRegistry, 'settingsNames'>>;
  readonly pool: Pool;
  readonly tokens: SessionTokens;
  /** Where agents reach the gateway; undefined when embedded without one. */
  readonly gatewayUrl: () => string | undefined;
  /** Working folders below this one are made when missing; any other must exist. */
  readonly workRoot?: string;
  /** How long a turn may say nothing before its session shows that, or ends it. Absent: for ever. */
  readonly silence?: () => SilenceRule;
  /** Do turns that the end of the gateway cuts off go on by themselves? Default: a person says so. */
  readonly resumes?: () => boolean;
  /**
   * How long an engine may take to settle after its turn was aborted. Default 15 s: SIGINT, SIGTERM, SIGKILL
   * fit in.
   */
  readonly settleMs?: number;
  /** How long a tool waits for a person's word. Default 10 minutes. */
  readonly permissionWaitMs?: number;
  /** Where the bytes of a managed file lie, by its id. Absent: agents are told its address. */
  readonly attachmentPath?: (id: string, context: EffectContext) => Promise<string | undefined>;
  /** Keeps what a tool said where it is too long for a message. Absent: the beginning is all that is kept. */
  readonly keepText?: (
    sessionId: string,
    file: Parameters<KeepText>[0],
    context: EffectContext,
  ) => ReturnType<KeepText>;
  /** Looks at what a turn changes in its folder. Absent: nothing is looked at. */
  readonly watchChanges?: WatchChanges;
  /** Takes out what nothing that an engine says may hold. */
  readonly redact?: Redact;
  /** Has a person trusted what the project of this folder sets? Absent: no one has. */
  readonly isTrusted?: (sessionId: string, settings: ProjectSettings) => Promise<boolean>;
  /** What the session allows by now, for a turn that an earlier gateway began. Absent: what it allowed then. */
  readonly policyOf?: (context: EffectContext) => Promise<ToolPolicy | undefined>;
  /** W3C trace context for the programs of a turn. Absent: they get none. */
  readonly traceparent?: (context: EffectContext) => Promise<string | undefined>;
  /** Learns of running turns what they have said. Absent: no one asks. */
  readonly words?: Pick<LiveWords, 'begin'>;
  /** Keeps the accounts of employees. */
  readonly budget?: (context: EffectContext) => BudgetPort;
  /** Where turns run that outlive this gateway. Absent: they run in its own process. */
  readonly hosts?: TurnHosts;
  /** Turns on workers of other machines. Absent: there are none. */
  readonly remote?: RemoteTurns;
  /** Confines what engines start. Absent: nothing is confined. */
  readonly sandbox?: TurnSandbox;
  /** Called when an engine broke its contract; the turn fails with a sentence in any case. */
  readonly onFault?: (engine: string, error: unknown) => void;
  readonly graces?: Graces;
  readonly table?: ProcessTable;
}
