/**
 * What an agent's process may know of the environment of its gateway: where programs and the user's own files
 * are, how the terminal speaks, and whom it trusts on the network. Nothing else is inherited, because the gateway's
 * variables may hold operator secrets (its token, keys of providers for other engines, the secrets of the one who
 * started it).
 */
const inherited: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TMPDIR',
  'TZ',
  'TERM',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_CTYPE',
  'LC_MESSAGES',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  'XDG_STATE_HOME',
  'XDG_RUNTIME_DIR',
  // Files of certificates, which are public: behind an authority of one's own nothing else reaches a gateway by TLS
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

/** The variable by which a process is found again when its pid was never written down. */
export const spawnMark = 'SVC_SPAWN_ID';

/**
 * The whole environment of a child: a few harmless basics, then `given`, then the mark.
 *
 * @example childEnvironment({SVC_SESSION_ID: 's1'}, 'a1b2') // {PATH: …, HOME: …, SVC_SESSION_ID: 's1',
 * SVC_SPAWN_ID: 'a1b2'}
 */
export function childEnvironment(
  given: Readonly<Record<string, string>>,
  spawnId: string,
  own: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const basics = inherited.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const]));
  return { ...Object.fromEntries(basics), ...given, [spawnMark]: spawnId };
}
