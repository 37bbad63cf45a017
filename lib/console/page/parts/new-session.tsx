import { useRef } from 'preact/hooks';
import { client, must } from '../../../page/gateway.js';
import { useLoaded } from '../live.js';
import { go } from '../place.js';
import { Composer } from './composer.js';

/** The first message of a new session, and to whom it goes: an employee, or an engine without one. */
export function NewSession() {
  const to = useRef<HTMLSelectElement>(null);
  const loaded = useLoaded('who', readWho, {
    touches: ({ frames }) => frames.some(({ event }) => /^(?:org|engines):/.test(event)),
  });
  const who = loaded.value.value;
  const send = async (prompt: string, attachments: readonly string[]): Promise<void> => {
    const [kind, name] = (to.current?.value ?? '').split('/', 2);
    const session = await must(
      client.post('/api/sessions', {
        body: {
          prompt,
          ...(attachments.length > 0 && { attachments: [...attachments] }),
          ...(kind === 'employee' && name && { employee: name }),
          ...(kind === 'engine' && name && { engine: name }),
        },
      }),
    );
    go({ view: 'chat', id: session.id });
  };
  return (
    <div class="new-session">
      <label class="inline">
        To
        <select ref={to}>
          {who?.engines
            .filter(({ available }) => available)
            .map(({ name, isDefault }) => (
              <option key={name} value={`engine/${name}`} selected={isDefault}>
                {name}
                {isDefault ? ' (default)' : ''}
              </option>
            ))}
          {who?.employees.map(({ name, displayName, department }) => (
            <option key={name} value={`employee/${name}`}>
              {displayName} · {department}
            </option>
          ))}
        </select>
      </label>
      {loaded.value.error !== undefined && <p class="bad small">{loaded.value.error}</p>}
      {who !== undefined && !who.engines.some(({ available }) => available) && (
        <p class="notice">
          No engine was found that could answer. Settings lists how to get one; the gateway finds it by
          itself.
        </p>
      )}
      <Composer name="new" placeholder="Write a message" send={send} />
    </div>
  );
}

async function readWho() {
  const [engines, org] = await Promise.all([
    must(client.get('/api/engines')),
    must(client.get('/api/org')).catch(() => undefined), // a gateway without records has no people
  ]);
  const list = Object.values(
    engines.engines as Readonly<Record<string, { name: string; available: boolean }>>,
  );
  return {
    engines: list.map(({ name, available }) => ({ name, available, isDefault: name === engines.default })),
    employees: (org?.employees ?? []).map(({ name, displayName, department }) => ({
      name,
      displayName,
      department,
    })),
  };
}
