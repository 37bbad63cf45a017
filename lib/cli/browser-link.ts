import { startProgram } from '../../actors/start-program.js';
import type { Announcement } from '../home/announce.js';
import type { Layout } from '../home/layout.js';
import { prove } from './prove.js';

interface Granted {
  readonly grant: string;
  readonly ttlSeconds: number;
}

/**
 * An address that lets one browser of this machine in, once, within a minute. Its fragment is sent to no server and
 * written into no log.
 */
export async function browserLink(
  layout: Layout,
  announcement: Announcement,
): Promise<{ readonly link: string; readonly ttlSeconds: number }> {
  const { grant, ttlSeconds } = await prove<Granted>(layout, announcement, '/api/auth/bootstrap-grants');
  return { link: new URL(`/pair#svc-bootstrap=${grant}`, announcement.url).href, ttlSeconds };
}

/**
 * True when the desktop's own program took the address. It stands in the arguments of that program for a
 * moment, as with any link that is clicked.
 */
export function openInBrowser(link: string): Promise<boolean> {
  const [program, ...words] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open'];
  return new Promise((resolve) => {
    const child = startProgram(program ?? 'xdg-open', [...words, link], {
      stdio: ['ignore', 'ignore', 'ignore'],
      detached: true,
    });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
    setTimeout(() => resolve(true), patienceMs).unref(); // some stay in the foreground
  }).then((done) => done === true);
}

const patienceMs = 3_000;
