import { useSignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { client, must } from '../../../page/gateway.js';
import type { Known } from './field-input.js';

/** Names that a definition may refer to here, today. What is not there is not offered, and may be written all the same. */
export function useKnown(): Signal<Known> {
  const known = useSignal<Known>({ employees: [], engines: [], workflows: [], connectors: [] });
  useEffect(() => {
    void read().then((found) => {
      known.value = found;
    });
  }, []);
  return known;
}

async function read(): Promise<Known> {
  const none = (): undefined => undefined; // a gateway without records has no people, one without evidence no workflows
  const [org, engines, workflows, connectors] = await Promise.all([
    must(client.get('/api/org')).catch(none),
    must(client.get('/api/engines')).catch(none),
    must(client.get('/api/workflow-definitions')).catch(none),
    must(client.get('/api/connectors')).catch(none),
  ]);
  return {
    employees: org?.employees.map(({ name }) => name) ?? [],
    engines: Object.keys(engines?.engines ?? {}),
    workflows: workflows?.definitions.map(({ id }) => id) ?? [],
    connectors: connectors?.map(({ name }) => name) ?? [],
  };
}
