import { execFile } from 'node:child_process';
import type { Terminal } from '../command-line.js';

/**
 * Tells systemd that the gateway answers, and from then on that its event loop turns: it is restarted when
 * that stops. Does nothing where it was not started by a unit of `Type=notify`. Node cannot write to the
 * manager's datagram socket, systemd's own `systemd-notify` can.
 *
 * @returns what ends it: the manager is told that the gateway stops.
 */
export function notifyManager(env: Terminal['env']): () => void {
  if (env['NOTIFY_SOCKET'] === undefined) return () => undefined;
  const notify = (...words: readonly string[]): void =>
    void execFile('systemd-notify', words, { timeout: 10_000 }, () => undefined);
  notify('--ready');
  const patienceMs = Number(env['WATCHDOG_USEC'] ?? 0) / 1000;
  const timer =
    patienceMs > 0 ? setInterval(() => notify('WATCHDOG=1'), Math.max(1000, patienceMs / 3)) : undefined;
  return () => {
    clearInterval(timer);
    notify('STOPPING=1');
  };
}
