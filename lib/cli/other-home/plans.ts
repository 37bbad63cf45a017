import { isRefusal } from '../../client/index.js';
import { parsePlainYaml } from '../../records/plain-yaml.js';
import { reached, refused } from '../client.js';
import { namesIn, readPlain, unreadable } from './home-files.js';
import { unfitSelection, type Engines, type Known } from './selection.js';
import { endsImport, send, type SendOptions } from './send.js';

/** Cron jobs and workflows arrive paused: while the other server lives, each would run twice. */

type Said = Readonly<Record<string, unknown>>;

type Rehearsed = { readonly refusal?: { readonly error: string } };

/** The jobs of `cron/jobs.json`, each by the route that people use. One that is here by its id stays as it is. */
export async function importJobs(
  home: string,
  { engines, known }: { readonly engines: Engines; readonly known: Known },
  { client, ledger, apply }: SendOptions,
): Promise<void> {
  const text = await readPlain(home, 'cron/jobs.json');
  if (text === undefined) return;
  const parsed = parseOr(text);
  const jobs = Array.isArray(parsed) ? parsed : (parsed as { jobs?: unknown } | undefined)?.jobs;
  if (!Array.isArray(jobs)) return ledger.leave('cron job', 'cron/jobs.json', 'It is no list of jobs.');
  const here = (await client.get('/api/cron')).map(({ id }) => id.toLowerCase());
  for (const job of jobs as readonly Said[]) {
    const word = (member: string): string | undefined => {
      const value = job?.[member];
      return typeof value === 'string' && value !== '' ? value : undefined;
    };
    const id = word('id');
    const name = word('name') ?? id ?? 'without id';
    if (id === undefined || word('managedBy') !== undefined || word('workflowId') !== undefined) {
      ledger.leave('cron job', name, 'It has no id, or belongs to a workflow, which brings its own.');
      continue;
    }
    if (here.includes(id.toLowerCase())) {
      ledger.find('cron job');
      continue;
    }
    const employee = word('employee');
    const employeeIs = employee === undefined ? undefined : known(employee);
    const asked = { engine: word('engine'), model: word('model'), effortLevel: word('effortLevel') };
    const unfit = unfitSelection(engines, asked);
    for (const member of unfit) ledger.change('cron job', id, `Its ${member} is not known here.`);
    const selection = Object.entries(asked).filter(
      ([member, value]) => value !== undefined && !unfit.some((one) => one === member),
    );
    if (employee !== undefined && employeeIs === undefined)
      ledger.change('cron job', id, 'Its employee is none here.');
    if (job['delivery'] != null)
      ledger.change('cron job', id, 'Its delivery was left out: set up the connector first.');
    const timezone = word('timezone');
    const body = {
      id,
      name: name.slice(0, 200),
      enabled: false,
      prompt: word('prompt') ?? '',
      schedule: word('schedule') ?? '',
      ...(timezone !== undefined && { timezone }),
      ...(Object.fromEntries(selection) as { engine?: string; model?: string; effortLevel?: string }),
      ...(employee !== undefined && employeeIs === 'here' && { employee }),
    };
    const query = { params: { query: { dryRun: apply ? 'false' : 'true' } } } as const;
    const answer = await reached(
      client.announcement.url,
      client.gateway.post('/api/cron', { body, ...query }),
    );
    if (isRefusal(answer) && endsImport(answer)) throw refused(answer);
    // A rehearsal answers with what the refusal would be
    const refusal = isRefusal(answer) ? answer.message : (answer as Rehearsed).refusal?.error;
    if (refusal !== undefined) {
      ledger.leave('cron job', id, refusal);
      continue;
    }
    ledger.take('cron job');
    if (job['enabled'] !== false) ledger.change('cron job', id, 'It is paused.');
  }
}

const parts = [
  'schemaVersion',
  'id',
  'name',
  'title',
  'description',
  'orchestrator',
  'nodes',
  'edges',
  'runGates',
  'loop',
  'concurrency',
];

/** Definitions of `workflow-evidence/workflows`, one by one: each is judged as if it were written here. */
export async function importWorkflows(home: string, options: SendOptions): Promise<void> {
  const { ledger } = options;
  const folder = 'workflow-evidence/workflows';
  for (const file of await namesIn(home, folder)) {
    const text = /\.(?:json|ya?ml)$/.test(file) ? await readPlain(home, `${folder}/${file}`) : undefined;
    if (text === undefined) {
      ledger.leave('workflow', file, unreadable);
      continue;
    }
    const said = (parseOr(text) ?? {}) as Said;
    const { id = said['name'], status } = said;
    if (typeof id !== 'string' || !Array.isArray(said['nodes'])) {
      ledger.leave('workflow', file, 'It is no definition: it has no id, or no nodes.');
      continue;
    }
    if (status === 'retired') {
      ledger.leave('workflow', id, 'It is retired.');
      continue;
    }
    const left = Object.keys(said).filter((member) => !parts.includes(member) && member !== 'status');
    if (left.length > 0)
      ledger.change('workflow', id, 'What that server stamps on definitions was left out.');
    const kept = Object.fromEntries(
      parts.flatMap((member) => (member in said ? [[member, said[member]]] : [])),
    );
    const definition = { ...kept, id, status: 'paused' };
    const [taken] = await send(
      [{ area: 'workflow', name: `workflow ${id}`, part: { workflows: [definition] } }],
      options,
    );
    if (taken !== undefined && status !== 'paused') ledger.change('workflow', id, 'It is paused.');
  }
}

/** JSON, or YAML that is plain data; undefined: neither. */
function parseOr(text: string): unknown {
  const parsed = parsePlainYaml(text, 262_144);
  return 'fault' in parsed ? undefined : parsed.value;
}
