import { client, must } from './gateway.js';

export { isTemporary, Refused, retryMs, said } from './gateway.js';

/**
 * The client, for paths that are made as they are needed: `await ask<Fleet>('/api/inspect/fleet')`. Throws a
 * `Refused`.
 */
export async function ask<Body>(
  path: string,
  {
    signal,
    post,
    method,
    keepalive,
  }: {
    readonly signal?: AbortSignal;
    readonly post?: unknown;
    readonly method?: 'delete';
    /** It arrives though the page is closed meanwhile. */
    readonly keepalive?: boolean;
  } = {},
): Promise<Body> {
  const send = client[method ?? (post === undefined ? 'get' : 'post')] as AnyPath;
  return (await must(
    send(path, {
      ...(signal && { signal }),
      ...(post !== undefined && { body: post }),
      ...(keepalive && { keepalive }),
    }),
  )) as Body;
}

/** What a path answers, as bytes. Throws a `Refused`. */
export const load = async (path: string, signal?: AbortSignal): Promise<Blob> =>
  (await must((client.get as AnyPath)(path, { parseAs: 'blob', ...(signal && { signal }) }))) as Blob;

/** The routes of the inspector are not in the document that types the client. */
type AnyPath = (path: string, settings: object) => Promise<unknown>;

/** Save what a path answers as a file. */
export async function download(path: string, name: string): Promise<void> {
  const address = URL.createObjectURL(await load(path));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/** The path of an actor, whatever stands in its id. */
export const actorPath = ({ kind, id }: { readonly kind: string; readonly id: string }, more = ''): string =>
  `/api/inspect/actors/${encodeURIComponent(kind)}/${encodeURIComponent(id)}${more}`;
