import type { Json } from '../../machines/outputs.js';
import { imagesUnseen, type Engine } from '../engines/engine.js';
import { readNote } from '../engines/process.js';
import { tokenHash } from '../engines/tokens.js';
import { untilWritten } from '../until-written.js';
import { readConversation } from './turn-conversation.js';
import { environment, toolsOf } from './turn-folder.js';
import type { DistantTurn, GatewaySide, HostedTurn, RemoteTurns, TurnPrepared } from './turn-hosts.js';
import { storedMessages } from './turn-outbox.js';
import { failure, type TurnOutput } from './turn-outcome.js';
import { employeesOf } from './turn-sandbox.js';
import { follow, remaining, type TurnRun } from './turn-run.js';

/** From its beginning to its outcome, on a worker that has a slot for it. */
export async function runElsewhere(run: TurnRun, remote: RemoteTurns, worker: string): Promise<TurnOutput> {
  const { input, context, options } = run;
  const { turnId } = input;
  const engine = options.registry.get(input.engine);
  if (engine === undefined) return failure(`Unknown engine "${input.engine}". GET /api/engines lists them.`);
  const { sandbox } = options;
  const there = {
    turnId,
    sessionId: context.actor.id,
    engine: engine.name,
    cwd: input.cwd,
    nativeId: input.nativeId,
    level: sandbox?.levelOf(employeesOf(input)) ?? 'off',
    isRequired: sandbox?.isRequired?.() ?? false,
  };
  const prepared = await remote.prepare(worker, there, context.signal);
  let isBegun = false;
  try {
    return await runPrepared(run, { worker, engine, prepared }, (hosted, side) => {
      isBegun = true;
      return remote.begin(worker, hosted, side, context.signal);
    });
  } finally {
    if (!isBegun) remote.giveUp(worker, turnId);
  }
}

interface PreparedRun {
  readonly worker: string;
  readonly engine: Engine;
  readonly prepared: TurnPrepared;
}

/** It was judged there, and its place is open until it begins. */
async function runPrepared(
  run: TurnRun,
  { worker, engine, prepared }: PreparedRun,
  begin: (turn: HostedTurn, side: GatewaySide) => Promise<DistantTurn>,
): Promise<TurnOutput> {
  const { input, context, options } = run;
  const { turnId } = input;
  const sessionId = context.actor.id;
  const began = {
    type: 'turn.began' as const,
    turnId,
    worker,
    sandbox: prepared.sandbox,
    ...(options.silence && { silence: options.silence() }),
  };
  await untilWritten(() => context.send(began), context.signal);
  if (prepared.fault !== undefined) return failure(`Worker ${worker}: ${prepared.fault}`);
  const conversation = await readConversation(
    input.messageIds,
    context,
    (id) => Promise.resolve(options.attachmentPath?.(id, context)),
    { isElsewhere: true },
  );
  const url = options.gatewayUrl();
  const traceparent = await options.traceparent?.(context).catch(() => undefined); // only watching suffers
  const token = options.tokens.mint(sessionId);
  const hash = tokenHash(token);
  const hosted: HostedTurn = {
    engine,
    request: {
      sessionId,
      turnId,
      ...conversation,
      nativeId: input.nativeId,
      model: input.model,
      effort: input.effort,
      cwd: prepared.cwd,
      env: environment(input, sessionId, { token, url, traceparent }),
      deadlineMs: input.deadlineMs,
      silenceMs: options.silence?.().ms ?? 120_000,
      ...toolsOf(token, url),
    },
    tokenHash: hash,
    settleMs: options.settleMs ?? 15_000,
    ...(options.graces === undefined ? {} : { graces: options.graces }),
  };
  const unseen = conversation.images.length > 0 && engine.seesImages !== true ? [imagesUnseen] : [];
  return follow(
    { ...run, input: { ...input, cwd: prepared.cwd } },
    {
      confirm: () => Promise.resolve(),
      changes: undefined,
      tokenHash: hash,
      notices: [...unseen, ...prepared.notices],
      access: undefined,
      deadlineMs: input.deadlineMs,
      host: (side) => begin(hosted, side),
    },
  );
}

/** A turn that outlived the gateway that began it; undefined where it is not there any more. */
export async function adoptElsewhere(
  run: TurnRun,
  remote: RemoteTurns,
  note: Json,
): Promise<TurnOutput | undefined> {
  const { input, context, options } = run;
  const hash = readNote(note)?.tokenHash;
  if (typeof hash !== 'string') return undefined;
  const toolPolicy = await options.policyOf?.(context);
  const isStored = await storedMessages(input.turnId, context);
  options.tokens.restore(context.actor.id, hash);
  let isThere = true;
  const outcome = await follow(
    { ...run, input: { ...input, ...(toolPolicy && { toolPolicy }) } },
    {
      confirm: () => Promise.resolve(),
      changes: undefined,
      tokenHash: hash,
      notices: [],
      access: undefined,
      deadlineMs: remaining(note, input.deadlineMs),
      isStored,
      host: async (side) => {
        const turn = await remote.attach(note, input.turnId, side);
        isThere = turn !== undefined;
        return turn;
      },
    },
  );
  return isThere ? outcome : undefined;
}
