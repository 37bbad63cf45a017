import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { findAgentMark, markOf } from '../../../../actors/engines/process/agent-mark.js';
import { findSystemProgram } from '../../../../actors/sandbox/system-program.js';
import { startProgram } from '../../../../actors/start-program.js';

const mark =
  process.platform === 'linux' ? await findAgentMark(await findSystemProgram('prlimit')) : undefined;
const module = new URL('../../../../actors/engines/process/agent-mark.js', import.meta.url).href;

describe('the mark of an agent', () => {
  if (mark === undefined) {
    console.log('      processes of agents cannot be marked here (no prlimit): not tried');
    return;
  }

  // One look without descriptors left hid every agent until the gateway was started again
  it('is read again where its first look failed', async () => {
    const [program = '', ...words] = mark.wordsFor('s1');
    const agent = startProgram(program, [...words, 'cat'], { stdio: ['pipe', 'pipe', 'ignore'] });
    agent.stdin.write('x');
    await once(agent.stdout, 'data'); // it carries the mark by now
    const script = `
      import promises from 'node:fs/promises';
      import { syncBuiltinESMExports } from 'node:module';
      const { readFile } = promises;
      let looks = 0;
      promises.readFile = (path, ...rest) =>
        path === '/proc/self/limits' && (looks += 1) === 1
          ? Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE' }))
          : readFile(path, ...rest);
      syncBuiltinESMExports();
      const { markAt } = await import(${JSON.stringify(module)});
      console.log(await markAt('${agent.pid}'), await markAt('${agent.pid}'), await markAt(String(process.pid)));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    agent.stdin.end();
    expect(stdout.trim()).to.equal(`undefined ${markOf('s1')} null`);
  });
});
