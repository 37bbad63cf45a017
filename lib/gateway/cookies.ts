/**
 * The two cookies of a paired browser: which device it says it is, and the secret that proves it. Cookies are
 * shared between the ports of a host, so the names carry the instance.
 */
export interface CookieJar {
  /**
   * What a request brings, each id with each secret. Browsers share cookies between the ports of a host, so a
   * page of another port can plant one of the same name: any that is valid counts.
   */
  read(header: string | undefined): readonly { readonly id: string; readonly secret: string }[];
  /** Values for `Set-Cookie`. */
  give(id: string, secret: string, secure: boolean): readonly string[];
  clear(secure: boolean): readonly string[];
}

/**
 * `cookieJar('default').give('d_1', secret, false)` → `['svc_auth=…; Path=/; HttpOnly; …', 'svc_device=d_1;
 * …']`
 */
export function cookieJar(instance: string): CookieJar {
  const suffix = instance === 'default' ? '' : `_${instance}`;
  const names = { secret: `svc_auth${suffix}`, id: `svc_device${suffix}` };
  const attributes = (maxAgeSeconds: number, secure: boolean): string =>
    `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure ? '; Secure' : ''}`;
  return {
    read(header) {
      if (header === undefined || header.length > headerCharsMax) return [];
      const secrets = valuesOf(header, names.secret, secretShape);
      return valuesOf(header, names.id, idShape).flatMap((id) => secrets.map((secret) => ({ id, secret })));
    },
    give: (id, secret, secure) => [
      `${names.secret}=${secret}; ${attributes(yearSeconds, secure)}`,
      `${names.id}=${id}; ${attributes(yearSeconds, secure)}`,
    ],
    clear: (secure) => [
      `${names.secret}=; ${attributes(0, secure)}`,
      `${names.id}=; ${attributes(0, secure)}`,
    ],
  };
}

const yearSeconds = 31_536_000;
const headerCharsMax = 8_192;
const idShape = /^d_[\w-]{16}$/;
const secretShape = /^[\w-]{43}$/;

/** The values of one name that look like ours, the first few of them. */
function valuesOf(header: string, name: string, shape: RegExp): readonly string[] {
  const values = header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
    .filter((value) => shape.test(value));
  return [...new Set(values)].slice(0, sameNameMax);
}

const sameNameMax = 8;
