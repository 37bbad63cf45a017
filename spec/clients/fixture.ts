import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kind } from '../../actors/contracts.js';
import { triggerKind } from '../../actors/trigger/kind.js';
import { openEvidence } from '../../lib/records/evidence/evidence.js';
import { openHouse, type Client, type House } from '../lib/gateway/fixture.js';

/** A gateway with a roster and workflows, as the clients that were written for this API find one. */
export interface ClientHouse extends House {
  /** An agent of that employee, with its own token. */
  as(employee: string): Promise<Client>;
}

export async function openClientHouse(): Promise<ClientHouse> {
  const folder = await mkdtemp(join(tmpdir(), 'clients-'));
  const house = await openHouse({
    withRoster: true,
    evidence: await openEvidence({ standard: folder }),
    kinds: [triggerKind() as unknown as Kind], // a list knows only that they are kinds
  });
  return {
    ...house,
    async as(employee) {
      const input = {
        engine: 'pen',
        model: null,
        effort: null,
        employee,
        parentSessionId: null,
        ancestors: [],
        workItemId: null,
        title: null,
        cwd: house.home,
        source: 'web',
        sourceRef: null,
        interruptOnNewMessage: true,
        turnDeadlineMs: 60_000,
      };
      const id = `of-${employee}`;
      await house.supervisor.spawn('session', { id, input });
      return house.agent(id);
    },
    async close() {
      await house.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const noop = (id: string, more: object = {}) => ({
  id,
  type: 'step',
  actor: { kind: 'noop' },
  ...more,
});

export const engineStep = (id: string, instructions: string) => ({
  id,
  type: 'step',
  actor: { kind: 'engine', ref: 'pen' },
  instructions,
});

/** A definition of nodes one after the other. */
export const line = (title: string, ...nodes: readonly { readonly id: string }[]) => ({
  title,
  nodes,
  edges: nodes.slice(1).map(({ id }, at) => ({ id: `e${at}`, from: nodes[at]?.id, to: id })),
});
