import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { placeOf } from '../store/postgres/connection.js';
import { HomeError } from './home-error.js';

/** The setting `store` of config.yaml: where the actors of this home live. */
export const embeddedStore = 'level';

export const storeSetting = z
  .string()
  .max(2_048)
  .default(embeddedStore)
  .superRefine((store, issues) => {
    if (store === embeddedStore) return;
    try {
      placeOf(store);
    } catch (error) {
      issues.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
    }
  })
  .describe(
    '"level": in the home itself. postgres://user@host/database?home=name: in PostgreSQL, for more than one ' +
      'machine; the password is in PGPASSWORD or in the file that PGPASSWORD_FILE names.',
  );

/** The password of the database, from the environment or from a file; never from a setting, which is shown. */
export function databasePassword(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const file = env['PGPASSWORD_FILE'];
  if (file === undefined || file === '') return env['PGPASSWORD'];
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new HomeError(
      'BAD_HOME',
      `PGPASSWORD_FILE cannot be read: ${file}.`,
      'Name a file that this user can read.',
      { cause },
    );
  }
}
