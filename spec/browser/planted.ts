import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setup } from 'xstate';
import type { AtLeastOnceEffect, AtMostOnceEffect, Kind } from '../../actors/contracts.js';
import { connectorKind } from '../../actors/connector/kind.js';
import { openEvidence } from '../../lib/records/evidence/evidence.js';
import { openHouse, type House } from '../lib/gateway/fixture.js';

/**
 * A gateway in which seven things are wrong, for a person who never saw the page: a spec walks it, and so can anyone
 * (`node dist/spec/browser/walk.js`).
 */
export interface Planted {
  readonly house: House;
  readonly ids: {
    readonly asking: string;
    readonly silent: string;
    readonly item: string;
    readonly workflow: string;
  };
  close(): Promise<void>;
}

export const sevenProblems: readonly string[] = [
  'a session waits for a permission to use a tool',
  'an actor has failed too often and is halted',
  'a connector cannot reach its service',
  'an event is a dead letter, and its fault has been repaired since',
  'a run is queued behind another one of its workflow',
  'a turn says nothing',
  'an approval is asked of a person who does not come',
];

/** `holds`: decisions can be undone for some seconds, as in a gateway with a home. */
export async function plant({ holds = false }: { readonly holds?: boolean } = {}): Promise<Planted> {
  const folder = await mkdtemp(join(tmpdir(), 'seven-'));
  let isCracked = true;
  const house = await openHouse({
    withRoster: true,
    evidence: await openEvidence({ standard: folder }),
    kinds: [fragile('glass', 'halt', () => true), fragile('cup', 'escalate', () => isCracked), deadLine],
    ...(holds && { holds }),
  });
  const post = async (path: string, body: object = {}) => {
    const answer = await house.operator.post(path, body);
    expect(answer.status, answer.text).to.be.below(300);
    return answer.body;
  };
  const asking = (await post('/api/sessions', { prompt: 'hang', title: 'Clean the build' })).id as string;
  await house.supervisor.ask('session', asking, {
    type: 'permission.asked',
    permissionId: 'p1',
    turnId: `${asking}:1`,
    tool: 'Bash',
    title: 'Remove a folder',
    text: '{"command":"rm -r build/output"}',
    waitMs: 600_000,
  });
  const silent = (await post('/api/sessions', { prompt: 'hang on', title: 'Count the chairs' })).id as string;
  await house.supervisor.ask('session', silent, { type: 'turn.began', turnId: `${silent}:1` });
  for (const [kind, id] of [
    ['glass', 'tall-glass'],
    ['cup', 'blue-cup'],
  ] as const) {
    await house.supervisor.spawn(kind, { id });
    for (let n = 0; n < 2; n += 1)
      await house.supervisor.ask(kind, id, { type: 'fill' }).catch(() => undefined);
  }
  isCracked = false;
  const input = { name: 'letterbox', connectorType: 'webhook', employee: null, capabilities: {} };
  await house.supervisor.spawn('connector', { id: 'letterbox', input });
  const gate = { kind: 'approval', approvalRef: 'go', description: 'The parcel is packed. Go on?' };
  const definition = {
    title: 'Ship it',
    concurrency: 1,
    nodes: [
      { id: 'ask', type: 'gate', label: 'Ask', gate },
      { id: 'send', type: 'step', label: 'Send the parcel', actor: { kind: 'noop' } },
    ],
    edges: [{ id: 'e', from: 'ask', to: 'send' }],
  };
  const made = await post('/api/workflow-definitions/mutate', { operation: 'create', definition });
  const workflow = made.definition.id as string;
  for (let n = 0; n < 2; n += 1) await post(`/api/workflow-definitions/${workflow}/run`);
  const item = (await post('/api/work-items', { title: 'Buy chairs' })).workItem.id as string;
  await post(`/api/work-items/${item}/approval/request`, { request: 'May I spend 400 euros on chairs?' });
  return {
    house,
    ids: { asking, silent, item, workflow },
    async close() {
      await house.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Breaks at a touch while it is cracked. */
function fragile(kind: string, giveUp: 'halt' | 'escalate', isCracked: () => boolean): Kind {
  const machine = setup({
    types: {} as { events: { type: 'fill' } },
    guards: {
      holds: () => {
        if (isCracked()) throw new Error(`the ${kind} is cracked: it broke when it was filled`);
        return true;
      },
    },
  }).createMachine({
    id: kind,
    initial: 'empty',
    states: { empty: { on: { fill: { guard: 'holds', target: 'full' } } }, full: {} },
  });
  return {
    kind,
    version: 1,
    machine,
    view: ({ value }) => value,
    supervision: { intensity: kind === 'glass' ? 1 : 9, periodSeconds: 60, backoffMs: 0, giveUp },
  } as Kind<typeof machine> as unknown as Kind;
}

const connection: AtLeastOnceEffect<unknown, void> = {
  guarantee: 'at-least-once',
  run: () => Promise.reject(new Error('the line is dead')),
};
const delivery: AtMostOnceEffect<unknown, never> = {
  guarantee: 'at-most-once',
  run: () => Promise.reject(new Error('none')),
  recover: () => Promise.reject(new Error('none')),
};
const deadLine = connectorKind({ connection, delivery }) as unknown as Kind;
