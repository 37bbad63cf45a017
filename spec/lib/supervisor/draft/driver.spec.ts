import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A host with an XState whose actor scope is another one: it was stepped at half the speed without a word. */
describe('a supervisor whose XState 5 cannot be stepped by its scope', () => {
  it('says so once in its log, and steps by the public functions', async () => {
    const file = (path: string): string => new URL(path, import.meta.url).href;
    const lib = '../../../../lib';
    const steps = file(`${lib}/supervisor/draft/step.js`);
    const changed = `data:text/javascript,${encodeURIComponent(`
      export * from '${steps}';
      export const begin = () => { throw new TypeError('the scope has no such member'); };`)}`;
    const loader = `data:text/javascript,${encodeURIComponent(`
      export const resolve = (specifier, context, next) =>
        specifier === './step.js' && context.parentURL.endsWith('/draft/driver.js')
          ? { url: ${JSON.stringify(changed)}, shortCircuit: true }
          : next(specifier, context);`)}`;
    const hook = `data:text/javascript,${encodeURIComponent(`
      import { register } from 'node:module';
      register(${JSON.stringify(loader)});`)}`;
    const run = `
      import { assign, createMachine } from 'xstate';
      import { createSupervisor, defineKind, memoryStore, systemEnvironment } from '${file(`${lib}/index.js`)}';
      import { pino } from 'pino';
      const add = { actions: assign({ n: ({ context }) => context.n + 1 }) };
      const machine = createMachine({ context: { n: 0 }, on: { add } });
      const kind = defineKind({ kind: 'counter', version: 1, machine, view: ({ context }) => context.n });
      const environment = systemEnvironment({ log: pino({ level: 'warn', base: null, timestamp: false }) });
      const supervisor = await createSupervisor({ kinds: [kind], store: memoryStore(), environment });
      await supervisor.spawn('counter', { id: 'c' });
      const { view } = await supervisor.ask('counter', 'c', { type: 'add' });
      console.log(view);
      await supervisor.stop();`;
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...['--import', hook, '--input-type=module', '-e', run],
    ]);
    // The log is written beside what the program prints: either may come first
    expect(stdout.trim().split('\n')).to.have.members([
      '{"level":40,"reason":"its actor scope fails: the scope has no such member","msg":"XState 5 is stepped ' +
        'by its public functions, at half the speed"}',
      '1',
    ]);
  });
});
