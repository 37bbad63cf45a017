import type { Command } from 'commander';
import type { Answer } from '../client/requests.js';
import { connect, sessionNamed, type Client } from './client.js';
import { hint, homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import type { Layout } from '../home/layout.js';
import { CommandError, exitCodes } from './failure.js';
import { plainText } from './print.js';

interface ChangesOptions extends HomeOptions {
  readonly patch?: true;
  readonly commit?: string;
  readonly discard?: true | readonly string[];
  readonly json?: true;
}

/** `troupe changes <session>`: what a session has changed in its folder; commits it, or takes it back. */
export function changesCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('changes')
      .description('show, commit or discard what a session has changed in its folder'),
  )
    .argument('<session>', 'id of a session, or the beginning of it')
    .option('--patch', 'line by line')
    .option('--commit <message>', 'commit what is in no commit')
    .option(
      '--discard [file...]',
      'take all changes back, or those of these files; a copy is kept in the repository',
    )
    .option('--json', 'answer as JSON')
    .action(async (typed: string, options: ChangesOptions) => {
      const layout = homeOf(options, terminal);
      const client = await connect(layout);
      const id = await sessionNamed(client, typed);
      const found = await changesOf(client, id);
      const { version } = found;
      const at = { path: { id } };
      if (options.commit !== undefined) {
        const body = { version, message: options.commit };
        const { commit } = await client.post('/api/sessions/{id}/changes/commit', { params: at, body });
        return terminal.out(`Committed ${commit.slice(0, 8)} on ${plainText(found.branch ?? '')}`);
      }
      if (options.discard !== undefined) {
        const body = { version, ...(options.discard !== true && { paths: [...options.discard] }) };
        const done = await client.post('/api/sessions/{id}/changes/discard', { params: at, body });
        terminal.out(`Discarded ${files(done.count)}, kept as ${done.keptAs}`);
        return terminal.say(`Bring one back: git checkout ${done.keptAs} -- <file>`);
      }
      if (options.json === true) return terminal.out(JSON.stringify(found));
      if (found.kind === 'none') return terminal.out('The folder of this session is in no git repository.');
      terminal.out(`${plainText(found.branch ?? 'no branch')} in ${found.folder ?? ''}`);
      for (const line of linesOf(found)) terminal.out(line);
      if (options.patch === true)
        for (const { path } of found.files) {
          const query = { path };
          const { patch, isCut } = await client.get('/api/sessions/{id}/changes/patch', {
            params: { ...at, query },
          });
          terminal.out(`\n${plainText(patch, { keepLines: true })}${isCut ? '\n… it is longer' : ''}`);
        }
      if (found.merge?.state === 'ready')
        terminal.say(`Merge it into ${found.merge.into ?? ''}: ${hint(layout, 'merge', id.slice(0, 8))}`);
    });
}

interface MergeOptions extends HomeOptions {
  readonly squash?: boolean;
  readonly message?: string;
}

/** `troupe merge <session>`: its branch into the one that is checked out in its repository. */
export function mergeCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('merge')
      .description('merge the branch of a session into the one that is checked out in its repository'),
  )
    .argument('<session>', 'id of a session, or the beginning of it')
    .option('--squash', 'as one commit')
    .option('-m, --message <text>', 'of the commit')
    .action(
      async (typed: string, { squash = false, message, ...options }: MergeOptions & { squash?: boolean }) => {
        const client = await connect(homeOf(options, terminal));
        const id = await sessionNamed(client, typed);
        const { version, merge } = await changesOf(client, id);
        if (merge?.state === 'conflicts') {
          for (const { path, text } of merge.conflicts) {
            terminal.out(plainText(path));
            terminal.out(plainText(text, { keepLines: true }));
          }
          throw new CommandError(
            exitCodes.refused,
            `Nothing was merged: ${merge.into ?? ''} has changed the same lines of ${files(merge.conflicts.length)}.`,
          );
        }
        const done = await client.post('/api/sessions/{id}/changes/merge', {
          params: { path: { id } },
          body: { version, squash, ...(message !== undefined && { message }) },
        });
        terminal.out(`Merged into ${plainText(done.into)}: ${done.commit.slice(0, 8)}`);
      },
    );
}

/** How to go on with what a session has done on a branch of its own. */
export function branchHint(
  layout: Layout,
  { id, branch }: { readonly id: string; readonly branch: string },
): string {
  const short = id.slice(0, 8);
  return (
    `review it with: ${hint(layout, 'changes', `${short} --patch`)}; take it over with: ` +
    `${hint(layout, 'merge', short)}, or by hand: git merge ${branch}`
  );
}

type Changes = Answer<'/api/sessions/{id}/changes', 'get'>;

const changesOf = (client: Client, id: string): Promise<Changes> =>
  client.get('/api/sessions/{id}/changes', { params: { path: { id } } });

function linesOf({ files: changed, commits, merge, hasMoreFiles, within }: Changes): readonly string[] {
  const lines = changed.map(({ path, change, renamedFrom, added, removed, isCommitted }) => {
    const count = added === null ? 'no text' : `+${added} -${removed ?? 0}`;
    const name = renamedFrom === null ? plainText(path) : `${plainText(renamedFrom)} -> ${plainText(path)}`;
    return `  ${change.padEnd(7)}  ${count.padEnd(11)}  ${name}${isCommitted ? '' : '  (not committed)'}`;
  });
  return [
    ...(lines.length === 0 ? ['  nothing has changed'] : lines),
    ...(hasMoreFiles ? ['  … and more'] : []),
    ...within.map((path) => `  ${plainText(path)} is a repository of its own: what is in it stays there`),
    ...commits.map(({ commit, subject }) => `  ${commit.slice(0, 8)} ${plainText(subject)}`),
    ...(merge === null ? [] : [`  ${mergeLine(merge)}`]),
  ];
}

function mergeLine({ state, reason, into, conflicts }: NonNullable<Changes['merge']>): string {
  if (state === 'ready') return `can be merged into ${into ?? ''}`;
  if (state === 'merged') return `${into ?? ''} has all of it`;
  if (state === 'conflicts') return `conflicts with ${into ?? ''} in ${files(conflicts.length)}`;
  return reason ?? 'cannot be merged';
}

const files = (count: number): string => (count === 1 ? '1 file' : `${count} files`);
