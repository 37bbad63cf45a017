import type { Command } from 'commander';
import { renderUnicodeCompact } from 'uqr';
import type { Announcement } from '../home/announce.js';
import type { Config } from '../home/config.js';
import { readConfig } from '../home/read-config.js';
import { notRunning, running } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { prove } from './prove.js';

interface Minted {
  readonly code: string;
  readonly expiresAt: string;
  readonly ttlSeconds: number;
}

/**
 * `troupe pair`: a code with which one browser is let in. Done on the machine of the gateway, by the owner of
 * its home.
 */
export function pairCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('pair')
      .description('pair a browser: prints a code, a link and a QR code that work once, within five minutes'),
  )
    .option('--json', 'answer as JSON')
    .action(async (options: HomeOptions & { readonly json?: boolean }) => {
      const layout = homeOf(options, terminal);
      const announcement = await running(layout);
      if (announcement === undefined) throw notRunning(layout);
      const { code, expiresAt, ttlSeconds } = await prove<Minted>(
        layout,
        announcement,
        '/api/auth/pairing-codes',
      );
      const links = baseUrls(announcement, (await readConfig(layout.config)).gateway).map(
        (base) => new URL(`/pair#code=${code}`, base).href,
      );
      if (options.json === true) {
        terminal.out(JSON.stringify({ code, links, expiresAt, ttlSeconds }));
        return;
      }
      const [link = ''] = links;
      terminal.out(renderUnicodeCompact(link, { border: 2 }));
      terminal.out(`  code  ${code}`);
      for (const one of links) terminal.out(`  link  ${one}`);
      terminal.say(
        `Works once, for ${Math.ceil(ttlSeconds / 60)} minutes. "GET /api/auth/devices" lists paired browsers.`,
      );
      if (isOnlyHere(announcement))
        terminal.say(
          'This gateway answers on this machine only. For a phone, set gateway.host, ' +
            'gateway.allowedHosts and gateway.tls in config.yaml.',
        );
    });
}

/** Where browsers reach the gateway: the names it was given, else its own address. */
export function baseUrls(
  announcement: Announcement,
  { allowedHosts }: Pick<Config['gateway'], 'allowedHosts'>,
): readonly string[] {
  const own = new URL(announcement.publicUrl ?? announcement.url);
  if (isOnlyHere(announcement)) return [own.href];
  const named = allowedHosts.map(
    (name) => `${own.protocol}//${/:\d+$/.test(name) ? name : `${name}:${own.port}`}`,
  );
  return named.length > 0 ? named : [own.href];
}

const isOnlyHere = ({ publicUrl }: Announcement): boolean =>
  publicUrl === undefined || /^(?:localhost|127\..+|\[::1\])$/.test(new URL(publicUrl).hostname);
