import type { ComponentChildren } from 'preact';
import { deliveryIdOf } from '../../../client/decision.js';
import { Refused } from '../../../page/ask.js';
import type { PollContract } from '../../../../machines/poll/context.js';
import { contractsRead } from '../decide.js';
import { now, span } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import type { Waiting } from '../waiting.js';
import { Patch } from './patch.js';
import { patchIn, textOf } from './tool-card.js';

/** What exactly is asked: the command or the edit, the request of a work item, the gate's description. */
export function Subject({
  thing,
  brief = false,
}: {
  readonly thing: Waiting;
  /** Where the rest stands around it anyway: only the text. */
  readonly brief?: boolean;
}) {
  const subject = useLoaded(
    `${thing.kind}/${thing.id}/${thing.waitingId}/${thing.since}`, // asked again: perhaps something else
    () => read(thing),
  );
  const { value, error } = subject.value;
  if (value === undefined)
    return error === undefined ? <p class="soft">Loading …</p> : <p class="bad">{error}</p>;
  return (
    <div class="subject">
      {!brief && (
        <dl class="facts">
          {value.facts.map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
      )}
      {value.text !== '' && (
        <pre tabIndex={0} role="group" aria-label="What is asked">
          {value.isPatch ? <Patch text={value.text} /> : value.text}
        </pre>
      )}
      {value.whole !== undefined && (
        <details>
          <summary>The whole of it</summary>
          <pre tabIndex={0} role="group" aria-label="The whole of what is asked">
            {value.whole}
          </pre>
        </details>
      )}
    </div>
  );
}

interface Read {
  readonly facts: readonly (readonly [string, ComponentChildren])[];
  readonly text: string;
  readonly isPatch?: boolean;
  /** Where the text is only what changes. */
  readonly whole?: string;
}

async function read(thing: Waiting): Promise<Read> {
  const { what, id } = thing;
  if (what === 'permission') return readPermission(thing);
  if (what === 'approval') {
    const path = { id };
    const [{ workItem }, { attempts }] = await Promise.all([
      must(client.get('/api/work-items/{id}', { params: { path } })),
      must(client.get('/api/work-items/{id}/attempts', { params: { path } })),
    ]);
    const changed = attempts.findLast(({ changedFiles }) => (changedFiles?.length ?? 0) > 0);
    return {
      facts: [
        ['Work item', <a href={linkTo({ view: 'item', id })}>{`${id} ${workItem.title}`}</a>],
        ['Asked of', workItem.approvalTarget ?? 'you'],
        ['Holds up', `${id} stays in ${words(workItem.status)}`],
        ...(workItem.assignee === null ? [] : [['Assigned to', workItem.assignee] as const]),
        ...(changed === undefined
          ? []
          : [
              [
                'Changed',
                <a href={linkTo({ view: 'changes', id: changed.sessionId })}>
                  {changed.changedFiles?.slice(0, 10).join(', ')}
                </a>,
              ] as const,
            ]),
      ],
      text: workItem.approvalRequest ?? '',
    };
  }
  if (what === 'gate') {
    const run = await must(
      client.get('/api/workflow-definitions/{id}/runs/{runId}', {
        params: { path: { id: thing.within ?? '', runId: id } },
      }),
    );
    const { parked, title } = run as {
      readonly title?: string;
      readonly parked?: { readonly description?: string } | null;
    };
    return {
      facts: [
        ['Run', title ?? id],
        ['Holds up', 'the run, until it is decided'],
      ],
      text: parked?.description ?? '',
    };
  }
  if (what === 'activation') return readContract(id);
  if (what === 'version') return readVersion(thing);
  if (what === 'delivery' || what === 'unknown-delivery') return readMessage(thing);
  if (what === 'budget')
    return { facts: [['Holds up', `every turn of ${id} until the month ends or more is granted`]], text: '' };
  return { facts: [['Waits for', thing.on === 'operator' ? 'you' : thing.on]], text: '' };
}

/** The program of a poll, whole: the title that waits holds only the beginning of a long one. */
async function readContract(id: string): Promise<Read> {
  const { triggers } = await must(client.get('/api/workflow-triggers'));
  const trigger = triggers.find(({ name }) => name === id);
  const contract = trigger?.['activationContract'] as PollContract | undefined;
  const hash = trigger?.['activationContractHash'];
  if (trigger === undefined || contract === undefined || typeof hash !== 'string')
    throw new Refused(404, 'NOT_FOUND', `The trigger ${id} is gone.`);
  contractsRead.set(id, hash);
  return {
    facts: [
      ['Trigger', id],
      ['Starts', trigger.targetWorkflowId],
      ['Runs', `this program every ${contract.intervalSeconds} s, once it is approved`],
    ],
    text: [
      contract.command.map((word) => JSON.stringify(word)).join(' '),
      ...contract.executableArtifacts.map(({ path, sha256 }) => `${path}  sha256 ${sha256}`),
    ].join('\n'),
  };
}

/** Exactly the version that would be approved, whole. */
async function readVersion({ id, waitingId }: Waiting): Promise<Read> {
  const [definition, { pending }] = await Promise.all([
    must(
      client.get('/api/workflow-definitions/{id}', {
        params: { path: { id }, query: { version: waitingId } },
      }),
    ),
    must(client.get('/api/workflow-approvals')),
  ]);
  const waits = pending.find((one) => one['workflowId'] === id && one.version === definition.version);
  const approved = waits?.approvedVersion ?? null;
  const whole = JSON.stringify(definition, null, 2);
  const patch = approved === null ? '' : await changesSince(approved, id, definition.version);
  return {
    facts: [
      ['Workflow', `${definition.title}, version ${definition.version}`],
      ['Written by', waits?.writtenBy ?? ''],
      ['Waits because', waits?.reasons.join('; ') ?? ''],
      ['Approving it', 'lends your rights to exactly these steps'],
      ...(approved === null
        ? []
        : [['Shown', `what changes since version ${approved}, approved last`] as const]),
    ],
    ...(patch === '' ? { text: whole } : { text: patch, isPatch: true, whole }),
  };
}

/** YAML and what compares texts weigh more than the whole inbox: they come with the first version to be approved. */
async function changesSince(approved: number, id: string, version: number): Promise<string> {
  const { patchOf, versionText } = await import('../workflows/patch-of.js');
  return patchOf(await versionText(id, approved), await versionText(id, version));
}

/** What was to be sent, to whom, by whom, and what is known of it. */
async function readMessage({ id, waitingId, what }: Waiting): Promise<Read> {
  const { delivery, text } = await must(
    client.get('/api/connectors/{name}/deliveries/{deliveryId}', {
      params: { path: { name: id, deliveryId: deliveryIdOf(waitingId) } },
    }),
  );
  const { channel, thread, requestedBy, requestedAt, reason, decision } = delivery;
  return {
    facts: [
      ['Through', <a href={linkTo({ view: 'connectors' })}>{id}</a>],
      ['To', thread === null ? channel : `${channel}, in the thread ${thread}`],
      ['From', requestedBy],
      ['Written', `${span(now.value - Date.parse(requestedAt))} ago`],
      [
        what === 'delivery' ? 'Did not arrive' : 'May have arrived',
        `${reason ?? ''}${what === 'delivery' ? '' : ' See whether it is there before you send it again.'}`,
      ],
      ...(decision == null
        ? []
        : [['Before', `${decisionWords[decision.choice]} by ${decision.by}`] as const]),
    ],
    text: text ?? 'Its text is no longer stored.',
  };
}

/** What a person made of a message. */
export const decisionWords = {
  arrived: 'arrived, said',
  'send-again': 'sent again',
  'give-up': 'given up',
} as const;

async function readPermission({ id, waitingId }: Waiting): Promise<Read> {
  const path = { id };
  const [asked, session] = await Promise.all([
    must(client.get('/api/sessions/{id}/permissions', { params: { path } })),
    must(client.get('/api/sessions/{id}', { params: { path, query: { messages: '0' } } })),
  ]);
  const permission = asked.find((one) => one.id === waitingId);
  const patch = patchIn(permission?.input);
  return {
    facts: [
      ['Agent', `${session.employee ?? session.engine}`],
      ['Session', <a href={linkTo({ view: 'chat', id })}>{session.title ?? session.promptExcerpt ?? id}</a>],
      ['Tool', permission?.tool ?? ''],
      ['Holds up', 'the turn, until it is decided'],
    ],
    text: patch ?? commandOf(permission?.input ?? '') ?? textOf(permission?.input),
    isPatch: patch !== undefined,
  };
}

/** Of a shell the command alone: what surrounds it says nothing more. */
function commandOf(input: string): string | undefined {
  try {
    const { command, ...rest } = JSON.parse(input) as Readonly<Record<string, unknown>>;
    return typeof command === 'string' && Object.keys(rest).every((name) => name === 'description')
      ? command
      : undefined;
  } catch {
    return undefined; // not an object: it is shown as it is
  }
}

const words = (status: string): string => status.replaceAll('_', ' ');
