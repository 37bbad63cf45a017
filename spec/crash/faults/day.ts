import type { FarSide } from '../../golden/far-side.js';
import { line } from '../../golden/workflows.js';
import { noop } from '../../machines/graph/graphs.js';
import { ask, type Answer, type Ask, type Body } from '../wire.js';

/**
 * A scripted day: one change of everything that an instance keeps, in the store and in files, each with a tag by
 * which it is found again.
 */
export interface Change {
  readonly tag: string;
  readonly ask: Ask;
  /** What became of it; `unknown` also where it was never asked. */
  outcome: Answer['type'];
  /** How often it is there now. */
  count(read: Read): Promise<number>;
}

/** The body of an answer; a refused read is an error. */
export type Read = (path: string) => Promise<Body>;

export interface Place {
  readonly url: string;
  readonly token: string;
}

/** Asks for one change after the other; stops when the process is gone. Answers how many were refused. */
export async function liveThrough(
  day: readonly Change[],
  { url, token }: Place,
  isGone: () => boolean,
): Promise<number> {
  let refused = 0;
  for (const change of day) {
    if (isGone()) break;
    const { type } = await ask(url, token, change.ask);
    change.outcome = type;
    if (type === 'refused') refused += 1;
  }
  return refused;
}

const times = (text: string, tag: string): number => text.split(tag).length - 1;

/** `isKilled`: a message that was on its way at the death may be left for a person to decide. */
export function scriptedDay(far: FarSide, isKilled: boolean): readonly Change[] {
  const day: Change[] = [];
  let n = 0;
  const change = (
    path: string,
    body: (tag: string) => Body,
    count: (read: Read, tag: string) => Promise<number>,
    method: Ask['method'] | 'PUT' = 'POST',
  ): void => {
    n += 1;
    const tag = `t${n}e`;
    day.push({
      tag: `${method} ${path} ${tag}`,
      ask: { method: method as 'POST', path, body: body(tag), ...(method === 'POST' && { key: tag }) },
      outcome: 'unknown',
      count: (read) => count(read, tag),
    });
  };
  const inside =
    (path: string) =>
    async (read: Read, tag: string): Promise<number> =>
      times(JSON.stringify(await read(path)), `"${tag}"`);
  for (let count = 0; count < 4; count += 1)
    change(
      '/api/work-items',
      (title) => ({ title }),
      async (read, tag) => titled(await read('/api/work-items'), tag),
    );
  change('/api/work-items/GOL-1/comments', (text) => ({ text }), inside('/api/work-items/GOL-1/comments'));
  change(
    '/api/work-items/GOL-2/approval/request',
    (request) => ({ request }),
    inside('/api/work-items/GOL-2/approvals'),
  );
  for (let count = 0; count < 2; count += 1)
    change(
      '/api/sessions',
      (title) => ({ prompt: 'tea', engine: 'quick', title }),
      async (read, tag) => times(JSON.stringify(await read('/api/sessions')), `"title":"${tag}"`),
    );
  change(
    '/api/files',
    (tag) => ({ filename: `${tag}.txt`, content: Buffer.from('hello').toString('base64') }),
    async (read, tag) => times(JSON.stringify(await read('/api/files')), `"filename":"${tag}.txt"`),
  );
  change(
    '/api/skills/brew',
    (tag) => ({ content: `---\nname: brew\ndescription: Brews tea.\n---\n\n# ${tag}\n` }),
    async (read, tag) => times(JSON.stringify(await read('/api/skills/brew')), `# ${tag}`) && 1,
    'PUT',
  );
  change(
    '/api/org/employees/ann',
    (displayName) => ({ displayName }),
    async (read, tag) => (JSON.stringify(await read('/api/org/employees/ann')).includes(`"${tag}"`) ? 1 : 0),
    'PATCH',
  );
  change(
    '/api/cron',
    (id) => ({ id, prompt: 'tea', engine: 'quick', schedule: '0 0 1 1 *' }),
    inside('/api/cron'),
  );
  change(
    '/api/workflow-definitions/mutate',
    (title) => ({ operation: 'create', definition: { ...line('plain', [noop('a')]), title } }),
    async (read, tag) =>
      JSON.stringify(await read('/api/workflow-definitions')).includes(`"${tag}"`) ? 1 : 0,
  );
  change(
    '/api/workflow-definitions/plain/run',
    (input) => ({ input }),
    async (read, tag) => {
      const { runs } = (await read('/api/workflow-definitions/plain/runs')) as { runs: { runId: string }[] };
      const whole = await Promise.all(
        runs.map(({ runId }) => read(`/api/workflow-definitions/plain/runs/${runId}`)),
      );
      return whole.filter((run) => JSON.stringify(run['parameters']).includes(`"${tag}"`)).length;
    },
  );
  change(
    '/api/connectors/steady/send',
    (text) => ({ channel: 'general', text }),
    async (read, tag) => {
      const arrived = far.received.filter((body) => body.includes(`"${tag}"`)).length;
      if (arrived > 0 || !isKilled) return arrived;
      return times(JSON.stringify(await read('/api/attention')), '"unknown-delivery"');
    },
  );
  change(
    '/api/org/employees/ann/budget',
    (note) => ({ usd: 1, note }),
    async (read) => Number((await read('/api/org/employees/ann/budget'))['grantedUsd']),
  );
  return day;
}

const titled = (body: Body, tag: string): number =>
  (body['workItems'] as readonly { title: string }[]).filter(({ title }) => title === tag).length;
