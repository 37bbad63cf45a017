import { openPostgresStore } from '../../../../lib/store/postgres/postgres.js';
import { storeContract } from '../../../../lib/testing/store-contract.js';
import { startPostgres, type PostgresServer } from '../../../helpers/postgres-server.js';

describe('the store in PostgreSQL', () => {
  let server: PostgresServer;
  before(async function () {
    this.timeout(180_000);
    server = await startPostgres();
  });
  after(() => server?.stop());
  storeContract('openPostgresStore', async () => openPostgresStore({ url: await server.newDatabase() }));
});
