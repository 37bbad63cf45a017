import { now, span } from '../../../page/clock.js';
import { Refused } from '../../../page/ask.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { NoRecords, Sheet } from '../parts/sheet.js';
import { linkTo } from '../place.js';

/** The workflows that there are, newest change first. */
export function WorkflowsPage() {
  const loaded = useLoaded('workflows', read, { touches: named(/^(?:company|run):/) });
  return (
    <div class="view workflows">
      <div class="heading">
        <h1>Workflows</h1>
        <p class="ways">
          <a class="button" href="/inspect#/runs">
            All runs
          </a>
          <a class="button primary" href={linkTo({ view: 'workflow-editor' })}>
            New workflow
          </a>
        </p>
      </div>
      <Answered loaded={loaded}>
        {({ definitions, reason, pending }) =>
          reason !== undefined ? (
            <p class="notice">{reason}</p>
          ) : definitions.length === 0 ? (
            <NoRecords title="No workflows yet." guide={{ href: '/docs/workflows', label: 'How they work' }}>
              A workflow lets several steps follow one another: agents, messages, requests, decisions of
              people.
            </NoRecords>
          ) : (
            <Sheet
              label="Workflows"
              columns={['Workflow', 'Status', { name: 'Version', shown: 'right' }, 'Steps', 'Changed']}
              items={definitions}
              keyOf={({ id }) => id}
              row={(one, at) => (
                <tr key={one.id} data-workflow={one.id} {...at}>
                  <th scope="row">
                    <a href={linkTo({ view: 'workflow', id: one.id })}>{one.title}</a>
                    {pending.has(one.id) && <b class="state wait">waits for you</b>}
                  </th>
                  <td>
                    <b class={`state ${one.status === 'active' ? 'done' : 'rest'}`}>{one.status}</b>
                  </td>
                  <td class="right num">{one.version}</td>
                  <td class="num">{one.nodeCount}</td>
                  <td class="num">{span(now.value - Date.parse(one.updatedAt))} ago</td>
                </tr>
              )}
            />
          )
        }
      </Answered>
    </div>
  );
}

async function read() {
  try {
    const [{ definitions, evidenceReason }, approvals] = await Promise.all([
      must(client.get('/api/workflow-definitions')),
      must(client.get('/api/workflow-approvals')).catch(() => ({ pending: [] })), // of those who may decide
    ]);
    return {
      definitions,
      reason: evidenceReason,
      pending: new Set(approvals.pending.map((one) => (one as { readonly workflowId?: unknown }).workflowId)),
    };
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    return { definitions: [], reason: 'This gateway has no workflows.', pending: new Set<unknown>() };
  }
}
