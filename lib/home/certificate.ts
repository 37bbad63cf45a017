import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config } from './config.js';
import { HomeError } from './home-error.js';
import type { Layout } from './layout.js';

/**
 * PEM texts of `gateway.tls`; undefined when it is not set. Rejects with a HomeError that names the key and
 * what is wrong.
 */
export async function readCertificate(
  { gateway: { tls } }: Config,
  layout: Pick<Layout, 'home' | 'config'>,
): Promise<{ readonly cert: string; readonly key: string } | undefined> {
  if (tls === null) return undefined;
  const fault = (key: string, what: string): HomeError =>
    new HomeError(
      'BAD_CONFIG',
      `${layout.config}, gateway.tls.${key}: ${what}`,
      'Fix the settings, then start again.',
    );
  const text = async (key: 'cert' | 'key'): Promise<string> => {
    // followed also where it is a link, as those who renew certificates make them; the configuration is its
    // owner's word
    return readFile(resolve(layout.home, tls[key]), 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw fault(key, `${tls[key]} cannot be read (${error.code ?? error.message}).`);
    });
  };
  const [cert, key] = [await text('cert'), await text('key')];
  const certificate = attempt(() => new X509Certificate(cert));
  if (certificate === undefined) throw fault('cert', 'not a PEM certificate.');
  const secret = attempt(() => createPrivateKey(key));
  if (secret === undefined) throw fault('key', 'not a PEM private key.');
  if (!certificate.checkPrivateKey(secret)) throw fault('key', 'the key does not match the certificate.');
  return { cert, key };
}

const attempt = <Made>(make: () => Made): Made | undefined => {
  try {
    return make();
  } catch {
    return undefined; // the message might quote what was read
  }
};
