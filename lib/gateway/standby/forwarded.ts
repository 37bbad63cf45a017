import { createHmac, randomBytes, timingSafeEqual, X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientEnds, type ClientEnd } from '../origin.js';

/**
 * A client's connection that came to a standby, which passes its bytes on as they are to the owner of the home. There
 * it is taken in like one of its own, with the same walls, and with the client's address in place of the standby's.
 *
 * Both prove by the key of the ownership that they read the same database, and say which certificate lies between them:
 * a standby gives nothing of its client to anyone else, and no one else can say where a client came from.
 */

/** The path of the request that makes a connection a forwarded one. */
export const forwardPath = '/ws/node';
export const forwardProtocol = 'troupe-node';

const sign = (key: string, side: 'owner' | 'standby', text: string): string =>
  createHmac('sha256', key).update(`${side} ${text}`).digest('base64url');

const isSigned = (key: string, side: 'owner' | 'standby', text: string, proof: unknown): boolean => {
  const expected = Buffer.from(sign(key, side, text));
  const given = Buffer.from(String(proof));
  return given.length === expected.length && timingSafeEqual(given, expected);
};

/** What a standby sends before anything of its client, and how it knows the answer for the owner's. */
export function introduce(
  key: string,
  client: ClientEnd,
  /** Of the other end, where it has shown one. */
  certificate: string,
): { readonly headers: Readonly<Record<string, string>>; isOwner(answer: IncomingHttpHeaders): boolean } {
  turns += 1;
  const said: Introduction = { ...client, certificate, from, turn: turns };
  const text = Buffer.from(JSON.stringify(said)).toString('base64url');
  return {
    headers: { [textHeader]: text, [proofHeader]: sign(key, 'standby', text) },
    isOwner: (answer) => isSigned(key, 'owner', text, answer[proofHeader]),
  };
}

interface Introduction extends ClientEnd {
  readonly certificate: string;
  /** The process that introduces, and the number of this introduction of its: each counts once. */
  readonly from: string;
  readonly turn: number;
}

const from = randomBytes(16).toString('base64url');
let turns = 0;

const textHeader = 'x-svc-forwarded';
const proofHeader = 'x-svc-node-proof';

/** Takes in what a standby forwards; false: it is none of this home, or looked at another certificate than ours. */
export function forwardedConnections(key: string, server: Server, cert: string | undefined) {
  const own = cert === undefined ? '' : new X509Certificate(cert).fingerprint256;
  const isFirst = firstTimes();
  return ({ headers }: IncomingMessage, socket: Socket, head: Buffer): boolean => {
    const text = String(headers[textHeader]);
    if (!isSigned(key, 'standby', text, headers[proofHeader])) return false;
    // Of a standby that has proved what it is
    const said = JSON.parse(Buffer.from(text, 'base64url').toString()) as Introduction;
    if (said.certificate !== '' && said.certificate !== own) return false;
    if (!isFirst(said)) return false; // said again by one who has overheard it
    socket.write(
      [
        'HTTP/1.1 101 Switching Protocols',
        'Connection: Upgrade',
        `Upgrade: ${forwardProtocol}`,
        `${proofHeader}: ${sign(key, 'owner', text)}`,
        '\r\n',
      ].join('\r\n'),
    );
    if (head.length > 0) socket.unshift(head);
    clientEnds.set(socket, said);
    Object.defineProperties(socket, {
      remoteAddress: { value: said.address },
      remotePort: { value: said.port },
      localAddress: { value: said.localAddress },
      localPort: { value: said.localPort },
      encrypted: { value: said.secure },
    });
    server.emit('connection', socket);
    return true;
  };
}

/** Without clocks, which may differ: what is far behind the newest of its process is too old. */
function firstTimes() {
  const heard = new Map<string, { newest: number; turns: Set<number> }>();
  return ({ from, turn }: Introduction): boolean => {
    const of = heard.get(from) ?? { newest: 0, turns: new Set() };
    if (!Number.isSafeInteger(turn) || turn <= of.newest - behindMax || of.turns.has(turn)) return false;
    of.newest = Math.max(of.newest, turn);
    of.turns.add(turn);
    if (of.turns.size > 2 * behindMax)
      of.turns = new Set([...of.turns].filter((one) => one > of.newest - behindMax));
    heard.set(from, of);
    return true;
  };
}

/** As many as a node takes connections, all on their way at once. */
const behindMax = 4_096;
