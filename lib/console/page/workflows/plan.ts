import { useSignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { WorkflowDefinition } from '../../../../machines/graph/definition.js';
import type { DefinitionDifference } from '../../../../machines/graph/difference.js';
import type { ExecutionPlan } from '../../../../machines/graph/plan.js';
import type { GraphFault } from '../../../../machines/graph/reader.js';
import { isTemporary, retryMs, said } from '../../../page/ask.js';
import { client, must } from '../../../page/gateway.js';

/** What the gateway says of a definition that is being written; it saves nothing. */
export interface Plan {
  readonly ok: boolean;
  /** In its normal form, with what the gateway adds. */
  readonly definition: WorkflowDefinition;
  readonly faults: readonly GraphFault[];
  readonly warnings: readonly GraphFault[];
  readonly execution: { readonly ok: boolean; readonly plan?: ExecutionPlan };
  /** To what is stored; null: nothing is. */
  readonly diff: DefinitionDifference | null;
}

type Raw = Readonly<Record<string, unknown>>;

export async function readPlan(definition: Raw, signal?: AbortSignal): Promise<Plan> {
  const answer = await must(
    client.post('/api/workflow-definitions/plan', { body: { definition }, ...(signal && { signal }) }),
  );
  const { ok, validation, warnings, execution, diff } = answer;
  return {
    ok,
    // The document leaves out what the graph's own reader promises
    definition: answer.definition as object as WorkflowDefinition,
    faults: validation.errors as readonly GraphFault[],
    warnings: warnings as readonly GraphFault[],
    execution: execution as Plan['execution'],
    diff: diff as DefinitionDifference | null,
  };
}

export interface Planned {
  readonly plan: Plan | undefined;
  /** Something newer is on its way. */
  readonly isOld: boolean;
  readonly error: string | undefined;
}

/** The plan of what is written, asked for shortly after each change; the one before stays until the next is there. */
export function usePlan(definition: Raw | undefined): Signal<Planned> {
  const planned = useSignal<Planned>({ plan: undefined, isOld: true, error: undefined });
  const key = JSON.stringify(definition);
  useEffect(() => {
    planned.value = { ...planned.value, isOld: true };
    if (definition === undefined) return;
    const end = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const ask = async (): Promise<void> => {
      try {
        const plan = await readPlan(definition, end.signal);
        if (!end.signal.aborted) planned.value = { plan, isOld: false, error: undefined };
      } catch (error) {
        if (end.signal.aborted) return;
        planned.value = { ...planned.value, error: said(error) };
        if (isTemporary(error)) timer = setTimeout(() => void ask(), retryMs);
      }
    };
    timer = setTimeout(() => void ask(), planned.value.plan === undefined ? 0 : typingMs);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [key]);
  return planned;
}

const typingMs = 250;
