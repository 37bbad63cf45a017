import type { Deed, Opened, StepRun, WorkflowPorts } from '../../../actors/effects/workflow-ports.js';
import { system } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import { limits, type StepOutcome } from '../../../machines/workflow-run/context.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import { expected, recordOf, type Desk } from '../desk.js';
import { sendThrough } from '../connectors.js';
import { admitNext } from './admit-next.js';
import { definitionAt } from './definitions.js';
import { openStepSession } from './open-step-session.js';
import { request } from './request.js';
import { startRun } from './start-run.js';
import { askingOf } from './step-asking.js';
import { operateWorkItem } from './work-item-step.js';
import type { InnerWish } from './wish.js';

/**
 * The hands of runs, wired to a desk. Kinds are made before the supervisor that a desk stands on; so the hands of runs
 * that go on after a restart wait here until there is a desk.
 */
export interface WorkflowWiring {
  readonly ports: WorkflowPorts;
  connect(desk: Desk): void;
}

export function wireWorkflows(): WorkflowWiring {
  let connect: (desk: Desk) => void = () => undefined;
  const connected = new Promise<Desk>((resolve) => { connect = resolve; });
  const within = <Wish, Answer>(deed: (desk: Desk, wish: Wish) => Promise<Answer>) => async (wish: Wish): Promise<Answer> => deed(await connected, wish);
  return {
    connect,
    ports: {
      definition: async (id, version) => definitionAt(await connected, id, version),
      openSession: within(openStepSession),
      startRun: within(startChild),
      send: within(send),
      request: within(request),
      workItem: within(operateWorkItem),
      admitNext: async (workflowId) => admitNext(await connected, workflowId),
      async keepEvidence(workflowId, runId, files) {
        const { evidence } = await connected;
        if (evidence?.configured !== true) return 'off';
        for (const [name, text] of Object.entries(files)) await evidence.write(`runs/${workflowId}/${runId}/${name}`, text);
        return 'written';
      },
    },
  };
}

/** A step that is another workflow's run. Its key is the attempt's, so that it is started once. */
async function startChild(desk: Desk, { action, runId, nodeId, round, attempt, key }: StepRun): Promise<Opened> {
  const above = await runsAbove(desk, runId);
  const wish: InnerWish = {
    workflowId: action.workflowId, input: action.input, idempotencyKey: key.slice(-256), report: null,
    trigger: { source: 'workflow-call', event: runId, payload: action.input, fireRef: key }, parent: { runId, nodeId, round, attempt, depth: above.length }, nested: above.some(({ workflowId }) => workflowId === action.workflowId),
  };
  const started = await startRun(desk, wish, { by: system(`workflow-run:${runId}`) });
  if (isRefusal(started)) return { refused: started.message };
  return { id: started.value.id };
}

/** The run and those that it is a step of, nearest first. */
async function runsAbove({ supervisor }: Desk, runId: string): Promise<readonly RunView[]> {
  const above: RunView[] = [];
  for (let id: string | undefined = runId; id !== undefined && above.length <= limits.depthMax;) {
    const run = await supervisor.get('workflow-run', id);
    if (run === undefined) break;
    const view = recordOf(run) as unknown as RunView; // the view of its kind
    above.push(view);
    id = view.parent?.runId;
  }
  return above;
}

/** Sent once: the delivery's id follows from the key. */
async function send(desk: Desk, { action, runId, key }: Deed<'connector-send'>): Promise<StepOutcome> {
  const { connector, channel, text, thread } = action;
  const done = expected(await sendThrough(desk, connector, { channel, text, thread }, askingOf(runId, key)));
  const { id, status, reason, messageId } = done.value;
  if (status === 'failed') throw new Error(`The message was not sent: ${reason ?? 'the connector does not say why'}`);
  return { summary: `${status} through ${connector}`, fields: { deliveryId: id, status, messageId, reason } };
}
