import { useRef, useState } from 'preact/hooks';
import { client, must } from '../../../page/gateway.js';
import { useLoaded } from '../live.js';
import { go } from '../place.js';
import { Composer } from './composer.js';

/** The first message of a new session, and to whom it goes: an employee, or an engine without one. */
export function NewSession() {
  const to = useRef<HTMLSelectElement>(null);
  const [mode, setMode] = useState<Mode>('');
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
          ...(mode !== '' && { permissions: mode }),
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
      <label class="inline">
        Permissions
        <select
          aria-describedby="new-session-permissions"
          value={mode}
          onChange={({ currentTarget }) => setMode(currentTarget.value as Mode)}
        >
          {modes.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <p id="new-session-permissions" class="small muted">
        {modes.find(([value]) => value === mode)?.[2]}
      </p>
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

type Mode = '' | 'ask' | 'edits' | 'full';

/** What the agent may do without permission, and what each means. */
const modes: readonly (readonly [value: Mode, label: string, about: string])[] = [
  ['', 'as configured', "As the employee's file says; else every tool asks."],
  ['ask', 'ask', 'Every tool that changes something or runs a program asks first.'],
  ['edits', 'edits', 'Changes of files in its folder are allowed; programs ask first.'],
  ['full', 'full', 'Nothing is asked. The sandbox and the rights of the employee still hold.'],
];

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
