import type { ActionCall, Opened, ChildRun, WorkflowPorts } from '../../../actors/workflow-run/ports.js';
import { system } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { StepOutcome } from '../../../machines/workflow-run/context.js';
import type { App } from '../app.js';
import { expected } from '../request.js';
import { sendThrough } from '../connectors.js';
import { admitNext } from './start-run.js';
import { definitionAt } from './definitions.js';
import { openStepSession } from './open-step-session.js';
import { request } from './request.js';
import { startRun } from './start-run.js';
import { runsAbove } from './read-run.js';
import { causesOfRun, stepRequest } from '../authority/workflow-authority.js';
import { operateWorkItem } from './work-item-step.js';
import type { InnerRunInput } from './run-input.js';

/**
 * What the effects of runs do through the app: `workflowRunKind({ports: (context) =>
 * workflowPorts(appOf(context))})`
 */
export const workflowPorts = (app: App): WorkflowPorts => ({
  definition: (id, version) => definitionAt(app, id, version),
  openSession: (input) => openStepSession(app, input),
  startRun: (call) => startChild(app, call),
  send: (call) => send(app, call),
  request: (call) => request(app, call),
  workItem: (call) => operateWorkItem(app, call),
  admitNext: (workflowId) => admitNext(app, workflowId),
  async keepEvidence(workflowId, runId, files) {
    const { evidence, supervisor } = app;
    if (evidence?.configured !== true) return 'off';
    try {
      for (const [name, text] of Object.entries(files))
        await evidence.write(`runs/${workflowId}/${runId}/${name}`, text);
    } catch (error) {
      // The run goes on without; that a copy is missing must still be seen by a person.
      supervisor.environment.log.warn({ run: runId, err: error }, 'could not write the evidence of a run');
      throw error;
    }
    return 'written';
  },
});

/** A step that is another workflow's run. Its key is the attempt's, so that it is started once. */
async function startChild(
  app: App,
  { action, runId, nodeId, round, attempt, key }: ChildRun,
): Promise<Opened> {
  const above = await runsAbove(app, runId);
  const wanted: InnerRunInput = {
    workflowId: action.workflowId,
    input: action.input,
    idempotencyKey: key.slice(-256),
    report: null,
    trigger: { source: 'workflow-call', event: runId, payload: action.input, fireRef: key },
    parent: { runId, nodeId, round, attempt, depth: above.length },
    lent: above[0]?.authority?.lent === true,
    nested: above.some(({ workflowId }) => workflowId === action.workflowId),
  };
  const onBehalfOf = await causesOfRun(app, runId);
  const started = await startRun({ app, caller: system(`workflow-run:${runId}`), onBehalfOf }, wanted);
  if (isRefusal(started)) return { refused: started.message };
  return { id: started.body.id };
}

/** Sent once: the delivery's id follows from the key. */
async function send(app: App, { action, runId, key }: ActionCall<'connector-send'>): Promise<StepOutcome> {
  const { connector, channel, text, thread } = action;
  const done = expected(
    await sendThrough(await stepRequest(app, { runId, key }), connector, { channel, text, thread }),
  );
  const { id, status, reason, messageId } = done.body;
  if (status === 'failed')
    throw new Error(`The message was not sent: ${reason ?? 'the connector gave no reason'}`);
  return { summary: `${status} through ${connector}`, fields: { deliveryId: id, status, messageId, reason } };
}
