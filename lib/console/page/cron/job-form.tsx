import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { scheduleFault } from '../../../../machines/cron-time.js';
import { useAction } from '../../../page/action.js';
import { said } from '../../../page/ask.js';
import { dateAndTime, now } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { useKnown } from '../workflows/known.js';
import { cronWords } from './cron-words.js';
import { dueAfter } from './day-strip.js';

interface Fields {
  readonly name: string;
  readonly schedule: string;
  readonly timezone: string;
  readonly prompt: string;
  readonly employee: string;
  readonly engine: string;
  readonly missed: 'skip' | 'once' | 'all';
  readonly enabled: boolean;
}

const fresh: Fields = {
  name: '',
  schedule: '0 7 * * 1-5',
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  prompt: '',
  employee: '',
  engine: '',
  missed: 'skip',
  enabled: true,
};

/** Make a job or change one; what its schedule means is said while one types. `id`: empty for a new one. */
export function JobForm({ id, close }: { readonly id: string; readonly close: () => void }) {
  const fields = useSignal<Fields | undefined>(id === '' ? fresh : undefined);
  const failed = useSignal('');
  const sure = useSignal(false);
  const { message, busy, attempt } = useAction();
  const known = useKnown();
  useEffect(() => {
    if (id === '') return;
    void must(client.get('/api/cron/{id}', { params: { path: { id } } })).then(
      ({ name, schedule, timezone, prompt, employee, engine, missed, enabled }) => {
        fields.value = {
          name,
          schedule,
          timezone: timezone ?? '',
          prompt,
          employee: employee ?? '',
          engine: engine ?? '',
          missed,
          enabled,
        };
      },
      (error: unknown) => {
        failed.value = said(error);
      },
    );
  }, []);
  const given = fields.value;
  if (given === undefined) return <p class={failed.value === '' ? 'soft' : 'notice bad'}>{failed.value}</p>;
  const set = (change: Partial<Fields>): void => {
    fields.value = { ...given, ...change };
  };
  const save = (): void =>
    void attempt(async () => {
      const { timezone, employee, engine, ...rest } = given;
      const body = {
        ...rest,
        timezone: timezone === '' ? null : timezone,
        employee: employee === '' ? null : employee,
        engine: engine === '' ? null : engine,
      };
      if (id === '') await must(client.post('/api/cron', { body }));
      else await must(client.put('/api/cron/{id}', { params: { path: { id } }, body }));
      close();
    });
  return (
    <section class="panel" aria-labelledby="job-title">
      <h2 id="job-title">{id === '' ? 'New job' : given.name}</h2>
      <form
        class="node-form two"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <Text label="Name" value={given.name} required set={(name) => set({ name })} />
        <label data-field="schedule">
          <span>Schedule</span>
          <input
            type="text"
            class="mono"
            value={given.schedule}
            required
            autocomplete="off"
            onInput={(event) => set({ schedule: event.currentTarget.value })}
          />
          <Meaning schedule={given.schedule} timezone={given.timezone} />
        </label>
        <Text label="Time zone" value={given.timezone} set={(timezone) => set({ timezone })} />
        <Text
          label="Employee"
          value={given.employee}
          names={known.value.employees}
          set={(employee) => set({ employee })}
        />
        <Text
          label="Engine"
          value={given.engine}
          names={known.value.engines}
          set={(engine) => set({ engine })}
        />
        <label>
          <span>What was missed while the gateway was down</span>
          <select
            value={given.missed}
            onChange={(event) => set({ missed: event.currentTarget.value as Fields['missed'] })}
          >
            <option value="skip">is left out</option>
            <option value="once">runs once</option>
            <option value="all">runs, the newest 24</option>
          </select>
        </label>
        <label class="whole" data-field="prompt">
          <span>What is to be done</span>
          <textarea
            rows={4}
            required
            value={given.prompt}
            onInput={(event) => set({ prompt: event.currentTarget.value })}
          />
        </label>
        <label class="check whole">
          <input
            type="checkbox"
            checked={given.enabled}
            onChange={(event) => set({ enabled: event.currentTarget.checked })}
          />
          Runs by the clock
        </label>
        <p class="ways whole">
          <button type="submit" class="primary" disabled={busy}>
            {id === '' ? 'Make it' : 'Save'}
          </button>
          <button type="button" class="quiet" onClick={close}>
            Close
          </button>
          {message !== '' && (
            <span class="bad small" role="alert">
              {message}
            </span>
          )}
          {id !== '' && (
            <button
              type="button"
              class="quiet end"
              disabled={busy}
              onClick={() => {
                if (!sure.value) sure.value = true;
                else
                  void attempt(async () => {
                    await must(client.delete('/api/cron/{id}', { params: { path: { id } }, body: {} }));
                    close();
                  });
              }}
            >
              {sure.value ? 'Delete it for good' : 'Delete …'}
            </button>
          )}
        </p>
      </form>
    </section>
  );
}

/** In words, and when it would run next; or what is wrong with it. */
function Meaning({ schedule, timezone }: { readonly schedule: string; readonly timezone: string }) {
  const zone = timezone === '' ? 'UTC' : timezone;
  const fault = scheduleFault(schedule, zone);
  if (fault !== undefined)
    return (
      <small class="bad" role="status">
        {fault.message}
      </small>
    );
  const due = dueAfter({ schedule, timezone: zone, nextRunAt: null }, now.value, 3);
  const words = cronWords(schedule);
  return (
    <small class="soft" role="status">
      {words === schedule ? '' : `${words}. `}
      Next: {due.length === 0 ? 'never' : due.map((at) => dateAndTime(at)).join('; ')}
    </small>
  );
}

function Text({
  label,
  value,
  set,
  names,
  required = false,
}: {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly names?: readonly string[];
  readonly required?: boolean;
}) {
  const list = names === undefined ? undefined : `job-${label}`;
  return (
    <label data-field={label.toLowerCase()}>
      <span>{label}</span>
      <input
        type="text"
        value={value}
        required={required}
        list={list}
        autocomplete="off"
        onInput={(event) => set(event.currentTarget.value)}
      />
      {list !== undefined && (
        <datalist id={list}>
          {names?.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </label>
  );
}
