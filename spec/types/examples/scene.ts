// What the examples of docstrings take for granted: theirs is the one line that a reader of an editor's hint wants.
import { assign, setup } from 'xstate';
import { defineKind, type LogEntry, type Refusal, type Store, type Supervisor } from 'troupe';
import { defineEngine } from 'troupe/agents';
import type { Client, Run } from 'troupe/client';
import { defineConnector, type ConnectorLink } from 'troupe/connectors';
import type { Instance } from 'troupe/gateway';
import type { WorkflowDefinition } from 'troupe/machines';

export const machine = setup({
  types: { context: {} as { total: number }, events: {} as { type: 'add'; n: number } },
}).createMachine({
  context: { total: 0 },
  on: { add: { actions: assign({ total: ({ context, event }) => context.total + event.n }) } },
});
export const counter = defineKind({
  kind: 'counter',
  version: 1,
  machine,
  view: ({ context }) => ({ total: context.total }),
});
export declare const supervisor: Supervisor<readonly [typeof counter]>;
export declare const store: Store;
export declare const answer: Refusal | { readonly view: { readonly total: number } };
export declare const error: unknown;
export declare const entry: LogEntry;

export const echo = defineEngine({
  name: 'echo',
  effortMechanism: 'none',
  discover: async () => ({ available: true, defaultModel: null, models: [] }),
  turn: async ({ prompt }) => ({ outcome: 'succeeded', text: prompt }),
});
export declare function openLoft(address: string, signal: AbortSignal): Promise<ConnectorLink>;
export const pigeon = defineConnector({
  type: 'pigeon',
  capabilities: { threading: false, messageEdits: false, reactions: false, attachments: false },
  open: (settings, signal) => openLoft(String(settings['loft']), signal),
});
export declare const far: { readonly url: string; readonly texts: readonly string[] };
export declare const bank: { charge(cents: number, options: { idempotencyKey: string }): Promise<null> };
export declare const chat: { post(text: string): Promise<void> };
export declare function answerOf(
  prompt: string,
  said: readonly unknown[],
  options: { readonly signal: AbortSignal; readonly onWord: (word: string) => void },
): Promise<string>;

export declare const client: Client;
export declare const run: Run;
export declare const kept: { readonly id: string };
export declare const id: string;
export declare const since: number;
export declare const token: string;
export declare const operatorToken: string;
export declare const instance: Instance;
export declare const gateway: { readonly url: string };
export declare const definition: WorkflowDefinition;
export declare function isAdmin(request: unknown): Promise<boolean>;
