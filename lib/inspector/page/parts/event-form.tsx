import { useSignal } from '@preact/signals';
import { actorPath, ask, Refused } from '../../../page/ask.js';
import { useAction } from '../../../page/action.js';
import { readable } from './step.js';
import type { EventSchema, WhyAnswer } from '../../answers.js';
import type { ActorKey, Json } from '../../../../machines/outputs.js';

type Move = WhyAnswer['next'][number];

/** A form for an event, made of what its schema says of each member. What is refused is said at the field that it is of. */
export function EventForm({
  actor,
  move,
  done,
}: {
  readonly actor: ActorKey;
  readonly move: Move;
  readonly done: () => void;
}) {
  const { message, busy, attempt } = useAction();
  const wrong = useSignal<Readonly<Record<string, string>>>({});
  const schema = move.schema ?? { properties: {}, required: [] };
  const send = (form: FormData): Promise<void> =>
    attempt(async () => {
      wrong.value = {};
      try {
        const members = membersOf(schema, form);
        await ask(actorPath(actor, '/send'), { post: { event: { ...members, type: move.event } } });
        done();
      } catch (error) {
        wrong.value = error instanceof Unreadable ? { [error.field]: error.message } : issuesOf(error);
        if (Object.keys(wrong.value).some((name) => name in schema.properties)) return;
        throw error;
      }
    });
  return (
    <form
      class="sending"
      aria-label={`Send ${readable(move.event)}`}
      onSubmit={(event) => {
        event.preventDefault();
        void send(new FormData(event.currentTarget));
      }}
    >
      {Object.entries(schema.properties).map(([name, member]) => (
        <Field
          key={name}
          name={name}
          member={(member ?? {}) as Member}
          isRequired={schema.required.includes(name)}
          given={targetOf(move, name)}
          wrong={wrong.value[name]}
        />
      ))}
      <button type="submit" class="primary" disabled={busy}>
        Send {readable(move.event)}
      </button>
      {message !== '' && (
        <p class="bad" role="alert">
          {message}
        </p>
      )}
    </form>
  );
}

/** What is read of a member's JSON Schema; all else the gateway judges. */
interface Member {
  readonly type?: string;
  readonly enum?: readonly Json[];
  readonly description?: string;
  readonly default?: Json;
}

function Field({
  name,
  member,
  isRequired,
  given,
  wrong,
}: {
  readonly name: string;
  readonly member: Member;
  readonly isRequired: boolean;
  readonly given: string;
  readonly wrong: string | undefined;
}) {
  const about = member.description ?? (isText(member) ? undefined : `as ${member.type ?? 'JSON'}`);
  const described = { name, 'aria-invalid': wrong !== undefined, 'aria-required': isRequired };
  const choices = member.enum ?? (member.type === 'boolean' ? [true, false] : undefined);
  return (
    <label data-field={name}>
      <span>
        {name}
        {!isRequired && <span class="soft"> (may be left out)</span>}
      </span>
      {choices !== undefined ? (
        <select {...described}>
          <option value="">{isRequired ? 'choose' : 'none'}</option>
          {choices.map((choice) => (
            <option key={String(choice)} value={JSON.stringify(choice)} selected={choice === given}>
              {String(choice)}
            </option>
          ))}
        </select>
      ) : isText(member) || isNumber(member) ? (
        <input
          {...described}
          type="text"
          inputMode={isNumber(member) ? 'decimal' : 'text'}
          defaultValue={given}
          placeholder={member.default === undefined ? '' : String(member.default)}
          autocomplete="off"
        />
      ) : (
        <textarea {...described} rows={3} placeholder={member.type === 'array' ? '[ ]' : '{ }'} />
      )}
      {about !== undefined && <small class="soft">{about}</small>}
      {wrong !== undefined && (
        <small class="bad" role="alert">
          {wrong}
        </small>
      )}
    </label>
  );
}

const isText = ({ type }: Member): boolean => type === 'string';
const isNumber = ({ type }: Member): boolean => type === 'number' || type === 'integer';

/** The same event leads to several states: the member that says which one is meant is filled in. */
const targetOf = ({ to, schema, needs = [] }: Move, name: string): string =>
  to?.length === 1 && schema?.required.length === 1 && schema.required[0] === name && !needs.includes(name)
    ? (to[0] ?? '')
    : '';

/** What was typed, each member as what its schema says it is; what was left empty is left out. */
function membersOf({ properties }: EventSchema, form: FormData): Readonly<Record<string, Json>> {
  const members: Record<string, Json> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const text = String(form.get(name) ?? '');
    const member = (schema ?? {}) as Member;
    if (text === '') continue;
    members[name] = isText(member) && member.enum === undefined ? text : parsed(name, text, member);
  }
  return members;
}

function parsed(name: string, text: string, member: Member): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Unreadable(name, `This is not ${isNumber(member) ? 'a number' : 'JSON'}.`);
  }
}

class Unreadable extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

/** What a refusal says of each member; of one within a member, with its path. */
function issuesOf(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof Refused)) return {};
  const { path, issues } = error.details as {
    readonly path?: unknown;
    readonly issues?: readonly { readonly path: string; readonly message: string }[];
  };
  const all = issues ?? (typeof path === 'string' ? [{ path, message: error.message }] : []);
  const said: Record<string, string> = {};
  for (const { path: whole, message } of all) {
    const [name = '', ...rest] = whole.split('.');
    said[name] ??= rest.length === 0 ? message : `${rest.join('.')}: ${message}`;
  }
  return said;
}
