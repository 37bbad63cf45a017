import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/**
 * Where a process may have few files open, who connected and said nothing, without any credential, took all of them:
 * the audit log could not be written, no program be started, and the thread of the store ended.
 */
describe('connections that say nothing', () => {
  it('leave files and programs their room, however few may be open', async () => {
    if (process.platform !== 'linux') return; // elsewhere the system does not say how many
    const listeners = new URL('../../../lib/gateway/listeners.js', import.meta.url).href;
    const program = `
      import { openListeners } from ${JSON.stringify(listeners)};
      import { openSync } from 'node:fs';
      const { port, servers } = await openListeners({ host: '127.0.0.1', port: 0 });
      let taken = 0;
      let refused = 0;
      servers[0].on('connection', () => (taken += 1));
      servers[0].on('drop', () => (refused += 1));
      console.log(port);
      process.stdin.once('data', () => {
        const opened = Array.from({ length: 40 }, () => openSync('/dev/null'));
        console.log(JSON.stringify({ opened: opened.length, taken, isRefused: refused > 0 }));
        process.exit();
      });`;
    const child = spawn(
      'sh',
      ['-c', 'ulimit -n 200; exec "$0" --input-type=module -e "$1"', process.execPath, program],
      {
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    let errors = '';
    child.stderr.on('data', (piece) => (errors += String(piece)));
    const lines = createInterface(child.stdout);
    const sockets: Socket[] = [];
    try {
      const [port] = (await once(lines, 'line')) as [string];
      for (let n = 0; n < 250; n += 1) {
        const socket = connect(Number(port), '127.0.0.1');
        socket.on('error', () => undefined); // one too many
        sockets.push(socket);
      }
      // Of those that are not taken
      await Promise.race(sockets.map((socket) => once(socket, 'close')));
      const answer = Promise.race([
        once(lines, 'line'),
        once(child, 'exit').then(() => [`{"errors":${JSON.stringify(errors)}}`]),
      ]);
      child.stdin.write('\n');
      const { opened, taken, isRefused } = JSON.parse(String((await answer)[0])) as Record<string, unknown>;
      expect({ opened, isRefused }, errors).to.deep.equal({ opened: 40, isRefused: true });
      expect(taken).to.be.within(50, 100);
    } finally {
      for (const socket of sockets) socket.destroy();
      child.kill('SIGKILL');
    }
  });
});
