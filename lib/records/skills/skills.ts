import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { contentHash, writeAtomically } from '../../home/atomic-file.js';
import { HomeError } from '../../home/home-error.js';
import type { Environment } from '../../environment.js';
import { openJailed } from '../jailed-file.js';
import { watchTree } from '../watch-tree.js';
import { forgetSkill } from './manifest.js';
import { frontmatterOf, judgeSkillText, skillBytesMax } from './skill-text.js';

/**
 * Skills: one folder each with a `SKILL.md`. They are read, replaced and removed here; new ones come by other
 * ways (people and their tools put folders there). What is shown of them is kept in memory by time and size
 * of the file.
 */
export interface SkillStore {
  /** In order of names. */
  list(): Promise<readonly SkillRow[]>;
  read(name: string): Promise<Skill | Refusal>;
  /** NOT_FOUND before anything is said about the text. */
  replace(name: string, content: string): Promise<Skill | Refusal>;
  remove(name: string): Promise<true | Refusal>;
  /** Called after every change; with the name where it was made here. */
  onChange(listener: (change: { readonly updated?: string }) => Promise<void> | void): void;
  close(): Promise<void>;
}

export interface SkillRow {
  readonly name: string;
  readonly description?: string;
}
export interface Skill {
  readonly name: string;
  readonly content: string;
}

/** `openSkills({folder: layout.skills, manifest: join(layout.home, 'skills.json'), environment})` */
export function openSkills(options: {
  readonly folder: string;
  readonly manifest: string;
  readonly environment: Environment;
}): SkillStore {
  const { folder, manifest, environment } = options;
  const listeners: ((change: { readonly updated?: string }) => Promise<void> | void)[] = [];
  const known = new Map<string, { readonly stamp: string; readonly row: SkillRow }>();
  let state = '';
  let busy: Promise<unknown> = Promise.resolve();

  /** One writer at a time, and no look at half of a change. */
  function alone<Result>(operation: () => Promise<Result>): Promise<Result> {
    const mine = busy.then(operation);
    busy = mine.catch(() => undefined);
    return mine;
  }

  async function stampOf(name: string): Promise<string | undefined> {
    const facts = await lstat(join(folder, name, fileName)).catch(() => undefined);
    return facts?.isFile() ? `${facts.mtimeMs}:${facts.size}:${facts.ino}` : undefined;
  }

  async function rowOf(name: string): Promise<SkillRow | undefined> {
    const stamp = await stampOf(name);
    if (stamp === undefined) return undefined;
    const before = known.get(name);
    if (before?.stamp === stamp) return before.row;
    const skill = await readText(name);
    const found = skill === undefined ? undefined : frontmatterOf(skill);
    const row = {
      name,
      ...(found &&
        'description' in found &&
        found.description !== undefined && { description: found.description }),
    };
    known.set(name, { stamp, row });
    return row;
  }

  async function list(): Promise<readonly SkillRow[]> {
    const rows: SkillRow[] = [];
    for (const name of await namesIn(folder)) {
      const row = await rowOf(name);
      if (row) rows.push(row);
    }
    for (const name of known.keys()) if (!rows.some((row) => row.name === name)) known.delete(name);
    return rows;
  }

  async function readText(name: string): Promise<string | undefined> {
    if (!nameShape.test(name)) return undefined;
    const opened = await openJailed(folder, `${name}/${fileName}`);
    if (typeof opened === 'string') return undefined;
    try {
      return opened.size > skillBytesMax ? undefined : await opened.handle.readFile('utf8');
    } finally {
      await opened.handle.close();
    }
  }

  /** Tell of what is different from what was told last. */
  async function poll(change: { readonly updated?: string } = {}): Promise<void> {
    await list();
    const now = contentHash(
      [...known]
        .map(([name, { stamp }]) => `${name} ${stamp}`)
        .sort()
        .join('\n'),
    );
    if (now === state) return;
    state = now;
    for (const listener of listeners) await listener(change);
  }

  const watched = watchTree(folder, {
    depth: 1,
    onChange: () =>
      alone(() => poll()).catch((error: unknown) =>
        environment.log.error({ err: error }, 'skills could not be read'),
      ),
  });

  const first = alone(async () => {
    await watched.established;
    await list();
    state = contentHash(
      [...known]
        .map(([name, { stamp }]) => `${name} ${stamp}`)
        .sort()
        .join('\n'),
    );
  });

  return {
    list: () => alone(list),
    async read(name) {
      const content = await readText(name);
      return content === undefined ? absent(name) : { name, content };
    },
    replace: (name, content) =>
      alone(async () => {
        const before = await readText(name);
        if (before === undefined) return absent(name);
        const refusal = judgeSkillText(name, content);
        if (refusal) return refusal;
        try {
          await writeAtomically(join(folder, name, fileName), content, {
            mode: 0o600,
            unlessChangedFrom: contentHash(before),
          });
        } catch (error) {
          if (error instanceof HomeError && error.code === 'CHANGED_MEANWHILE')
            return refuse('CONFLICT', {}, `The skill ${name} has changed since it was read. Read it again.`);
          throw error;
        }
        await poll({ updated: name });
        return { name, content };
      }),
    remove: (name) =>
      alone(async () => {
        if ((await readText(name)) === undefined) return absent(name);
        // aside first: a folder that is half removed is no skill, and the name is free at once
        const aside = join(folder, `.${name}.${environment.ids.next()}`);
        await rename(join(folder, name), aside);
        await rm(aside, { recursive: true, force: true });
        await forgetSkill(manifest, name);
        await poll({ updated: name });
        return true as const;
      }),
    onChange: (listener) => void listeners.push(listener),
    async close() {
      await first;
      await watched.close();
      await busy;
    },
  };
}

const fileName = 'SKILL.md';
const nameShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const skillsMax = 2_000;

const absent = (name: string): Refusal =>
  refuse('NOT_FOUND', { kind: 'skill', id: name.slice(0, 200) }, 'Not found');

async function namesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && nameShape.test(entry.name))
    .map(({ name }) => name)
    .sort()
    .slice(0, skillsMax);
}
