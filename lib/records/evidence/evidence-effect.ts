import type { AtLeastOnceEffect } from '../../../actors/contracts.js';
import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import { mermaidOf } from '../../../machines/graph/drawing.js';
import type { Json } from '../../../machines/outputs.js';
import type { EvidenceInput, EvidenceOutput } from '../../../machines/workflow/context.js';
import type { Evidence } from './evidence.js';

/**
 * The effect that writes a workflow's files: `workflows/<id>/<version>.json` for each version that has none,
 * and for the newest `workflows/<id>.json` and its drawing `workflows/<id>.mmd`. May run again: the same rows
 * make the same files.
 */
export function evidenceEffect(evidence: Evidence): AtLeastOnceEffect<EvidenceInput, EvidenceOutput> {
  return {
    guarantee: 'at-least-once',
    async run({ id, version }, context) {
      if (!evidence.configured) return { version };
      const definitions = (await context.rows('versions', {
        last: versionsMax,
      })) as readonly (Json & WorkflowDefinition)[]; // rows are what the machine kept
      for (const definition of definitions) {
        if (context.signal.aborted) return { version: 0 };
        const path = `workflows/${id}/${definition.version}.json`;
        if (!(await evidence.has(path))) await evidence.write(path, written(definition));
      }
      const newest = definitions.at(-1);
      if (newest === undefined) return { version };
      await evidence.write(`workflows/${id}.json`, written(newest));
      await evidence.write(`workflows/${id}.mmd`, mermaidOf(newest));
      return { version: newest.version };
    },
  };
}

/** Versions that a crash or a full disk may have kept without files. */
const versionsMax = 20;

const written = (definition: WorkflowDefinition): string => `${JSON.stringify(definition, null, 2)}\n`;
