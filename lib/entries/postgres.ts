/** `troupe/postgres`: the store in PostgreSQL, for homes of more than one machine. Needs the package `postgres`. */
export {
  openPostgresStore as postgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from '../store/postgres/postgres.js';
