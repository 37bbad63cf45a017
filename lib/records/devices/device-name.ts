/**
 * What to call a browser until somebody calls it better: guessed from its user agent, which anybody may set
 * to anything.
 */
export function deviceName(userAgent: string | undefined): string {
  const agent = userAgent ?? '';
  const known = machines.find(([pattern]) => pattern.test(agent));
  return known ? `${known[1]} browser` : 'Remote browser';
}

const machines: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iPhone or iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Macintosh|Mac OS/, 'Mac'],
  [/CrOS/, 'Chromebook'],
  [/Linux|X11/, 'Linux'],
];

/** A user agent fit to be kept and shown: printable ASCII, bounded. */
export const plainAgent = (userAgent: string | undefined): string | null => {
  const plain = (userAgent ?? '').replace(/[^\x20-\x7e]/g, '').slice(0, 300);
  return plain === '' ? null : plain;
};
