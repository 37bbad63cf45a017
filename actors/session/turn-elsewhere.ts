import type { Json } from '../../machines/outputs.js';
import { imagesUnseen, type Engine } from '../engines/engine.js';
import { readNote } from '../engines/process.js';
import { sandboxLevels } from '../sandbox/levels.js';
import type { InForce } from '../sandbox/sandbox.js';
import { untilWritten } from '../until-written.js';
import { readConversation } from './turn-conversation.js';
import type { DistantTurn, GatewaySide, HostedTurn, RemoteTurns, TurnPrepared } from './turn-hosts.js';
import { failure, type TurnOutput } from './turn-outcome.js';
import { employeesOf } from './turn-sandbox.js';
import { hostedTurn } from './turn-request.js';
import { follow, followAgain, type TurnRun } from './turn-run.js';

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
  if (prepared.fault === undefined) sandbox?.onTurn?.(there.sessionId, there.level, inForceThere(prepared));
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

/** As the worker says. */
function inForceThere({ sandbox: { level, reason } }: TurnPrepared): InForce {
  return {
    level: sandboxLevels.find((known) => known === level) ?? 'off',
    isRefused: false,
    ...(reason !== null && { lacking: { reason, remedy: '' } }),
  };
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
  const hosted = await hostedTurn(run, engine, {
    ...conversation,
    cwd: prepared.cwd,
    url: options.gatewayUrl(),
  });
  const unseen = conversation.images.length > 0 && engine.seesImages !== true ? [imagesUnseen] : [];
  return follow(
    { ...run, input: { ...input, cwd: prepared.cwd } },
    {
      confirm: () => Promise.resolve(),
      changes: undefined,
      tokenHash: hosted.tokenHash,
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
  options.tokens.restore(context.actor.id, hash);
  return followAgain({ ...run, input: { ...input, ...(toolPolicy && { toolPolicy }) } }, note, {
    confirm: () => Promise.resolve(),
    changes: undefined,
    tokenHash: hash,
    attach: (side) => remote.attach(note, input.turnId, side, context.signal),
  });
}
