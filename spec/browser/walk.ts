import { buildPages } from '../../lib/build-pages.js';
import { operatorToken } from '../lib/gateway/fixture.js';
import { plant, sevenProblems } from './planted.js';

/**
 * The written walk: a home with the seven planted problems, for a person with a browser. Each cause and its remedy is
 * to be found in the page alone, in less than a minute. `node dist/spec/browser/walk.js`, Ctrl-C ends it.
 */
await buildPages();
const { house, close } = await plant({ holds: true });
process.stdout.write(`
Open ${house.gateway.url}/inspect
Token ${operatorToken}

In this home seven things are stuck. With the page alone, and for each in less than a minute: which is it, why does it
not go on, what ends it? End it, and see that it has ended. (The sixth is listed a minute after the start.)

${sevenProblems.map((problem, n) => `${n + 1}. ${problem}`).join('\n')}

`);
await new Promise<void>((resolve) => {
  process.once('SIGINT', resolve);
  process.once('SIGTERM', resolve);
});
await close();
