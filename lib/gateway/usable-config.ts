import type { Config } from '../home/config.js';
import { HomeError } from '../home/home-error.js';
import type { Layout } from '../home/layout.js';
import { isLoopback } from './origin.js';

/** Refuses settings of which each alone is fine: what a value alone does not tell. */
export function refuseUnusable(
  config: Config,
  layout: Layout,
  { host, engines }: { readonly host: string; readonly engines: readonly string[] },
): void {
  if (!engines.includes(config.engines.default))
    throw new HomeError(
      'BAD_CONFIG',
      `${layout.config}, engines.default: unknown engine "${config.engines.default}".`,
      'Use a configured engine, or "clerk".',
    );
  if (!config.gateway.authRequired && !isLoopback(host))
    throw new HomeError(
      'BAD_CONFIG',
      `${layout.config}, gateway.authRequired: false is not allowed when the gateway listens on the network.`,
      'Remove it, or bind to 127.0.0.1.',
    );
  if (config.gateway.tls === null && !config.gateway.plainHttp && !isLoopback(host))
    throw new HomeError(
      'BAD_CONFIG',
      `${layout.config}: without TLS the token can be read on the network at ${host}.`,
      'Set gateway.tls, or gateway.plainHttp: true behind a proxy that speaks TLS, or bind to 127.0.0.1.',
    );
}
