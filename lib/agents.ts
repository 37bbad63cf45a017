import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { createConnectorRegistry, type ConnectorInstance } from '../actors/connectors/registry.js';
import { builtInConnectors } from '../actors/connectors/built-in.js';
import type { Supervisor } from './supervisor/contract.js';
import type { Connector, Inbox } from '../actors/connectors/connector.js';
import type { AtMostOnceEffect, EffectContext } from '../actors/contracts.js';
import type { AnyKinds, InputOf } from '../actors/inference.js';
import { connectionEffect } from '../actors/connector/connection.js';
import { createConnectorLinks, type ConnectorLinks } from '../actors/connector/links.js';
import { deliveryEffect } from '../actors/connector/delivery.js';
import { engineTurnEffect, redactedEffect } from '../actors/session/engine-turn.js';
import type { EngineTurnOptions } from '../actors/session/turn-options.js';
import { lackingSandbox, type TurnSandbox } from '../actors/session/turn-sandbox.js';
import type { Engine } from '../actors/engines/engine.js';
import { createPool, type Pool } from '../actors/engines/pool.js';
import { createEngineRegistry, type EngineRegistry } from '../actors/engines/registry.js';
import { createSessionTokens, type SessionTokens } from '../actors/engines/tokens.js';
import { budgetKind, type BudgetPort } from '../actors/budget/kind.js';
import { connectorKind } from '../actors/connector/kind.js';
import { sessionKind } from '../actors/session/kind.js';
import { workItemKind } from '../actors/work-item/kind.js';
import type { WorkflowPorts } from '../actors/workflow-run/ports.js';
import { workflowRunKind } from '../actors/workflow-run/kind.js';
import { workflowKind } from '../actors/workflow/kind.js';
import type { TurnInput, TurnOutput } from '../machines/session/context.js';
import { evidenceEffect } from './records/evidence/evidence-effect.js';
import type { Evidence } from './records/evidence/evidence.js';
import { isRefusal } from '../machines/refusals.js';

/**
 * The built-in kinds with their effects: sessions that engines answer, work items, connectors. A gateway is made
 * of them, and a program of your own can run them without one.
 */
export interface AgentsOptions extends Omit<AgentKindsOptions, 'registry' | 'tokens' | 'pool' | 'words'> {
  /** Who answers sessions; names are unique. */
  readonly engines: readonly Engine[];
  /** Engine of sessions that name none. Default: the first that is found on this machine. */
  readonly defaultEngine?: string;
  /** A turn that takes longer is ended. Default: one hour. */
  readonly turnDeadlineMs?: number;
}

/** The kinds of every agent runtime. */
export type AgentKinds = readonly [
  ReturnType<typeof sessionKind>,
  ReturnType<typeof workItemKind>,
  ReturnType<typeof budgetKind>,
  ReturnType<typeof workflowKind>,
  ReturnType<typeof connectorKind>,
];
export type WorkflowRunKind = ReturnType<typeof workflowRunKind>;

/** Kinds for `createSupervisor`, and what makes inputs of sessions for them. */
export interface Agents<Kinds extends AnyKinds = AgentKinds> {
  /** For `createSupervisor({kinds})`. */
  readonly kinds: Kinds;
  /** Finds engines and what they offer. */
  readonly registry: EngineRegistry;
  /** Tokens of running sessions: `createGateway` takes them to know agents by. */
  readonly tokens: SessionTokens;
  /**
   * The input of a new session: `supervisor.spawn('session', {input: await agents.session({prompt:
   * 'digest'})})`. Rejects when there is no such engine or model.
   */
  session(options: SessionOptions): Promise<InputOf<AgentKinds[0]>>;
}

/** Of a new session: its first message, and who answers where. */
export interface SessionOptions {
  /** The first message. */
  readonly prompt: string;
  /** Default: `defaultEngine`. */
  readonly engine?: string;
  /** One that the engine offers. Default: the engine's. */
  readonly model?: string;
  /** A level that the model offers. Default: the model's. */
  readonly effort?: string;
  /** Shown in lists. Default: made of the prompt. */
  readonly title?: string;
  /** Must exist. Default: a new folder below `workFolder`. */
  readonly cwd?: string;
}

/**
 * The built-in kinds with their effects, for a supervisor of a program's own. Throws a TypeError where two engines have
 * one name.
 * @example
 * const agents = createAgents({ engines: [commandEngine({ name: 'cat', command: ['cat'] })], workFolder: 'w' })
 */
export function createAgents(
  options: WithWorkflows<AgentsOptions>,
): Agents<readonly [...AgentKinds, WorkflowRunKind]>;
/**
 * The built-in kinds with their effects, for a supervisor of a program's own. Throws a TypeError where two engines have
 * one name.
 * @example
 * const agents = createAgents({ engines: [commandEngine({ name: 'cat', command: ['cat'] })], workFolder: 'w' })
 */
export function createAgents(options: AgentsOptions): Agents;
export function createAgents({
  engines,
  defaultEngine,
  turnDeadlineMs,
  ...options
}: AgentsOptions): Agents<readonly [...AgentKinds, ...WorkflowRunKind[]]> {
  const { sandbox } = options;
  const registry = createEngineRegistry({
    engines,
    default: defaultEngine ?? null,
    ...(sandbox === undefined ? {} : { lacking: lackingSandbox(sandbox) }),
  });
  const tokens = createSessionTokens();
  return {
    kinds: agentKinds({ ...options, registry, tokens }),
    registry,
    tokens,
    async session({ prompt, engine, model, effort, title, cwd }) {
      const selection = await registry.select(engine, model, effort);
      if (isRefusal(selection)) throw new TypeError(selection.message);
      return {
        engine: selection.engine,
        model: selection.model,
        effort: selection.effort,
        employee: null,
        parentSessionId: null,
        ancestors: [],
        workItemId: null,
        title: title ?? null,
        cwd: cwd ?? join(resolve(options.workFolder), randomUUID()),
        source: 'embedded',
        sourceRef: null,
        interruptOnNewMessage: true,
        turnDeadlineMs: turnDeadlineMs ?? 3_600_000,
        message: { id: randomUUID(), role: 'user', content: prompt, kind: 'user' },
        ...(selection.unavailable === undefined ? {} : { unavailable: { ...selection.unavailable } }),
      };
    },
  };
}

type WithWorkflows<Options extends AgentKindsOptions | AgentsOptions> = Options & {
  readonly workflows: NonNullable<Options['workflows']>;
};

export interface AgentKindsOptions {
  readonly registry: EngineRegistry;
  readonly tokens: SessionTokens;
  /** Folder below which sessions work that are given no folder of their own. */
  readonly workFolder: string;
  readonly connectors?: readonly Connector[];
  /** Configured connectors, asked again whenever one opens. */
  readonly connectorInstances?: () => readonly ConnectorInstance[];
  /** The open links of the connectors, where others send through them, too. */
  readonly links?: ConnectorLinks;
  /** Where what people write through a connector goes. */
  readonly inboxOf?: (name: string, context: EffectContext) => Inbox | undefined;
  /** Agent processes at once. Default: twice the processors. */
  readonly maxProcesses?: number;
  /** The process slots, where others look at them too; in place of `maxProcesses`. */
  readonly pool?: Pool;
  /** How long a turn may say nothing before its session shows that, or ends it. Absent: for ever. */
  readonly silence?: NonNullable<EngineTurnOptions['silence']>;
  /** Do turns that the end of this process cuts off go on by themselves? Default: a person says so. */
  readonly resumes?: NonNullable<EngineTurnOptions['resumes']>;
  /** A tool that an agent asks for waits so long for a person. */
  readonly permissionWaitMs?: number;
  /** Where the bytes of a managed file lie, by its id, so that agents can read what is attached. */
  readonly attachmentPath?: (id: string, context: EffectContext) => Promise<string | undefined>;
  /** Keeps what a tool said where it is too long for a message. */
  readonly keepText?: NonNullable<EngineTurnOptions['keepText']>;
  /** Looks at what turns change in their folders. */
  readonly watchChanges?: NonNullable<EngineTurnOptions['watchChanges']>;
  /** A pending approval escalates by itself after this. */
  readonly escalateAfterMs?: number;
  /** Where agents reach the gateway, if there is one. */
  readonly gatewayUrl?: () => string | undefined;
  /** What agents are given in place of a token of their own session. Not advised. */
  readonly agentToken?: string;
  /** What runs of workflows reach. Absent: there are none. */
  readonly workflows?: (context: EffectContext) => WorkflowPorts;
  /** Where workflows leave their evidence. */
  readonly evidence?: Evidence;
  /** Has a person trusted what the project of a session's folder sets? Absent: no one has. */
  readonly isTrusted?: NonNullable<EngineTurnOptions['isTrusted']>;
  /** W3C trace context for the programs of a turn. Absent: they get none. */
  readonly traceparent?: NonNullable<EngineTurnOptions['traceparent']>;
  /** Keeps the accounts of employees. */
  readonly budget?: (context: EffectContext) => BudgetPort;
  /** Takes out of what engines say what must not be stored. */
  readonly redact?: <Value>(value: Value) => Value;
  /** Learns of running turns what they have said, for who asks. */
  readonly words?: NonNullable<EngineTurnOptions['words']>;
  /** Confines the programs of engines. Absent: they run as this program's user. */
  readonly sandbox?: TurnSandbox;
  /** Where turns run that outlive this process. Absent: they run in it, and end with it. */
  readonly hosts?: NonNullable<EngineTurnOptions['hosts']>;
  /** Turns on workers of other machines. Absent: there are none. */
  readonly remote?: NonNullable<EngineTurnOptions['remote']>;
  readonly log?: Logger;
}

/** The kinds alone, over a registry and tokens that the caller has made. */
export function agentKinds(
  options: WithWorkflows<AgentKindsOptions>,
): readonly [...AgentKinds, WorkflowRunKind];
export function agentKinds(options: AgentKindsOptions): readonly [...AgentKinds, ...WorkflowRunKind[]];
export function agentKinds(options: AgentKindsOptions): readonly [...AgentKinds, ...WorkflowRunKind[]] {
  const {
    registry,
    tokens,
    agentToken,
    silence,
    resumes,
    maxProcesses,
    escalateAfterMs,
    permissionWaitMs,
    attachmentPath,
    keepText,
    watchChanges,
    isTrusted,
    traceparent,
    inboxOf,
    budget,
    sandbox,
    hosts,
    remote,
    words,
    redact,
    workflows,
    evidence,
    log,
  } = options;
  const turn = engineTurnEffect({
    registry,
    workRoot: resolve(options.workFolder),
    gatewayUrl: options.gatewayUrl ?? (() => undefined),
    pool: options.pool ?? createPool(maxProcesses === undefined ? {} : { maxProcesses }),
    tokens: agentToken === undefined ? tokens : { ...tokens, size: 0, mint: () => agentToken },
    onFault: (engine, error) => log?.error({ err: error, engine }, 'part of a turn failed'),
    ...(silence === undefined ? {} : { silence }),
    ...(resumes === undefined ? {} : { resumes }),
    ...(permissionWaitMs === undefined ? {} : { permissionWaitMs }),
    ...(attachmentPath === undefined ? {} : { attachmentPath }),
    ...(keepText === undefined ? {} : { keepText }),
    ...(watchChanges === undefined ? {} : { watchChanges }),
    policyOf: async ({ supervisor, actor }) =>
      (await (supervisor as Supervisor<AgentKinds>).get('session', actor.id))?.view.toolPolicy,
    ...(isTrusted === undefined ? {} : { isTrusted }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(budget === undefined ? {} : { budget }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(remote === undefined ? {} : { remote }),
    ...(words === undefined ? {} : { words }),
    ...(redact === undefined ? {} : { redact }),
  });
  const links =
    options.links ??
    createConnectorLinks(
      createConnectorRegistry({
        connectors: options.connectors ?? builtInConnectors,
        instances: options.connectorInstances ?? (() => []),
      }),
    );
  const connection = connectionEffect({ links, ...(inboxOf === undefined ? {} : { inboxOf }) });
  return [
    sessionKind({ turn: hearing(registry, redact === undefined ? turn : redactedEffect(turn, redact)) }),
    workItemKind(escalateAfterMs === undefined ? {} : { escalateAfterMs }),
    budgetKind(),
    workflowKind(evidence === undefined ? {} : { evidence: evidenceEffect(evidence) }),
    connectorKind({ connection, delivery: deliveryEffect({ links }) }),
    ...(workflows === undefined ? [] : [workflowRunKind({ ports: workflows })]),
  ];
}

/** The end of a turn is when an engine may know more of its provider's limits; no one waits for it. */
function hearing(
  registry: EngineRegistry,
  effect: AtMostOnceEffect<TurnInput, TurnOutput>,
): AtMostOnceEffect<TurnInput, TurnOutput> {
  return {
    ...effect,
    run: (input, context) =>
      effect.run(input, context).finally(() => {
        void registry.hear(input.engine);
      }),
  };
}
