import { z } from 'zod';
import {
  announceRevoked,
  mintCode,
  openChallenge,
  redeemCode,
  type MintedCode,
  type Paired,
  isOwnerProof,
  ownerProofHeader,
} from '../../commands/pair.js';
import { type Device, type DeviceBook, deviceName, plainAgent } from '../../records/devices/devices.js';
import type { CookieJar } from '../authentication.js';
import { pairPage } from '../pages/pair-page.js';
import { perMinute, perMinuteEach, type GroupLimiter, type Limiter } from '../limiter.js';
import { route, type HttpRequest, type Route } from '../route.js';
import { idOf } from '../parse.js';
import type { Reply } from '../../commands/request.js';
import { callerName } from '../../../machines/caller.js';
import type { DeviceKind } from '../../../machines/pairing-code/machine.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';

/** What pairing needs beside the app. */
export interface Pairing {
  readonly devices: DeviceBook;
  readonly cookies: CookieJar;
  /** Under which codes are hashed: known to this home alone. */
  readonly codeKey: string;
}

/**
 * Pairing of browsers: a proof that one owns the home becomes a code, a code becomes a device with two
 * cookies. A bearer is no browser, and an agent can make nothing here that is wider than itself.
 */
export function authRoutes(pairing: Pairing | undefined): readonly Route[] {
  if (pairing === undefined) return [];
  const { devices, cookies, codeKey } = pairing;
  let throttles: { outsiders: GroupLimiter; owner: Limiter; failures: Limiter } | undefined;
  const throttle = ({
    app: {
      supervisor: { environment },
    },
  }: HttpRequest<unknown, unknown>) =>
    (throttles ??= {
      outsiders: perMinuteEach({ each: challengesEach, all: challengesPerMinute }, () =>
        environment.clock.monotonic(),
      ),
      owner: perMinute(challengesPerMinute, () => environment.clock.monotonic()),
      failures: perMinute(failuresPerMinute, () => environment.clock.monotonic()),
    });

  return [
    route(
      'GET',
      '/pair',
      'page.pair',
      {
        about: 'The page that pairs a browser.',
        answer: z.string(),
        contentType: 'text/html; charset=utf-8',
      },
      () => ({ body: pairPage.html, headers: pairPage.headers }),
    ),
    route(
      'POST',
      '/api/auth/pairing-challenges',
      'auth.challenge',
      {
        about:
          'Start a proof that you own the home: write the nonce to the path, mode 0600, within ' +
          'ten seconds. Only from this machine.',
        body: nothing,
        answer: challenge,
        bodyBytesMax,
        refusals: ['LOCAL_ONLY', 'TOO_MANY', ...store],
      },
      async (request) => {
        if (!request.client.local)
          return refuse('LOCAL_ONLY', {}, 'Pairing challenges can only be created locally.');
        // `troupe pair` and `troupe open` say a word that only who reads the home can know: a group does not
        // stand in their way
        const { outsiders, owner } = throttle(request);
        const isOwner = isOwnerProof(
          request.header(ownerProofHeader),
          codeKey,
          request.app.supervisor.environment.clock.now(),
        );
        const resetAt = isOwner ? owner.take() : outsiders.take(request.client.address ?? '');
        if (resetAt !== undefined) return refuse('TOO_MANY', { resetAt });
        const opened = await openChallenge(request.app);
        return isRefusal(opened) ? opened : { body: opened };
      },
    ),
    route(
      'POST',
      '/api/auth/pairing-codes',
      'auth.code',
      {
        about:
          'Create a single-use pairing code, valid for five minutes; needs a proven challenge or a paired browser.',
        body: proof,
        answer: minted,
        bodyBytesMax,
        refusals: ['UNAUTHENTICATED', 'CHALLENGE_FAILED', ...store],
      },
      (request) => codeFor(request, 'remote'),
    ),
    route(
      'POST',
      '/api/auth/bootstrap-grants',
      'auth.grant',
      {
        about:
          'Create a single-use grant for a browser on this machine, valid for one minute; needs ' +
          'a proven challenge. Pass it in the URL fragment, which is never sent.',
        body: proof,
        answer: granted,
        bodyBytesMax,
        refusals: ['UNAUTHENTICATED', 'LOCAL_ONLY', 'CHALLENGE_FAILED', ...store],
      },
      async (request) => {
        if (!request.client.local) return refuse('LOCAL_ONLY');
        const made = await codeFor(request, 'local');
        if (isRefusal(made)) return made;
        const { status, code, ...rest } = made.body as { status: string } & MintedCode;
        return { body: { status, grant: code, ...rest } };
      },
    ),
    route(
      'POST',
      '/api/auth/pair',
      'auth.pair',
      {
        about: 'Exchange a code for two cookies. Case and dashes do not matter.',
        body: code,
        answer: paired,
        bodyBytesMax,
        refusals: ['PAIRING_CODE_INVALID', 'TOO_MANY', 'DEVICES_DAMAGED', ...store],
      },
      (request) => redeem(request, 'remote', request.body.code ?? ''),
    ),
    route(
      'POST',
      '/api/auth/bootstrap',
      'auth.bootstrap',
      {
        about:
          'Exchange a grant, in the header X-Svc-Bootstrap-Grant, for two cookies. Only from ' +
          'this machine, and by its own user.',
        body: nothing,
        answer: paired,
        bodyBytesMax,
        refusals: ['LOCAL_ONLY', 'PAIRING_CODE_INVALID', 'TOO_MANY', 'DEVICES_DAMAGED', ...store],
      },
      async (request) => {
        if (!request.client.local) return refuse('LOCAL_ONLY');
        if (await request.client.isOtherUser())
          return refuse('LOCAL_ONLY', {}, 'Another user of this machine may not redeem a grant.');
        return redeem(request, 'local', request.header('x-svc-bootstrap-grant') ?? '');
      },
    ),
    route(
      'GET',
      '/api/auth/devices',
      'auth.devices',
      {
        about: 'The paired browsers, most recently seen first.',
        answer: z.object({ devices: z.array(device) }),
        refusals: ['DEVICES_DAMAGED'],
      },
      async (request) => {
        if (!request.authenticated) return refuse('UNAUTHENTICATED'); // also where reads are open
        const listed = await devices.list();
        return isRefusal(listed) ? listed : { body: { devices: listed.map((one) => shown(one, request)) } };
      },
    ),
    route(
      'DELETE',
      '/api/auth/devices/:id',
      'auth.revoke',
      {
        about: 'Revoke a browser and close its sockets.',
        answer: z.object({ status: z.literal('ok'), current: z.boolean() }),
        refusals: ['NOT_FOUND', 'DEVICES_DAMAGED'],
      },
      async (request) => {
        const id = idOf(request);
        const done = await devices.revoke(id);
        if (isRefusal(done)) return done;
        if (!done) return refuse('NOT_FOUND', {}, 'Paired browser not found');
        await announceRevoked(request.app, id);
        const current = isCurrent(id, request);
        return {
          body: { status: 'ok', current },
          ...(current && { headers: { 'Set-Cookie': cookies.clear(request.client.secure) } }),
        };
      },
    ),
    route(
      'POST',
      '/api/auth/logout',
      'auth.logout',
      {
        about: 'Revoke this browser and clear its cookies. Any body is accepted, and not read.',
        answer: z.object({ status: z.literal('ok') }),
        refusals: ['DEVICES_DAMAGED'],
      },
      async (request) => {
        if (request.authenticated && request.caller.type === 'device') {
          const done = await devices.revoke(request.caller.id);
          if (isRefusal(done)) return done;
          await announceRevoked(request.app, request.caller.id);
        }
        return { body: { status: 'ok' }, headers: { 'Set-Cookie': cookies.clear(request.client.secure) } };
      },
    ),
  ];

  async function codeFor(
    { app, caller: by, authenticated, body }: HttpRequest<{ challengeId?: string | undefined }, undefined>,
    deviceKind: DeviceKind,
  ): Promise<Reply | Refusal> {
    const { challengeId } = body;
    const isBrowser = authenticated && by.type === 'device';
    if (challengeId === undefined && !isBrowser) return refuse('UNAUTHENTICATED');
    const made = await mintCode(app, codeKey, {
      deviceKind,
      challengeId,
      issuedTo: isBrowser ? callerName(by) : 'challenge',
    });
    return isRefusal(made) ? made : { body: { status: 'ok', ...made } };
  }

  /** The code is judged first, and only wrong ones are counted: no one can lock the owner out by guessing. */
  async function redeem(
    request: HttpRequest<unknown, undefined>,
    deviceKind: DeviceKind,
    given: string,
  ): Promise<Reply | Refusal> {
    const userAgent = request.header('user-agent');
    const done: Paired | Refusal = await redeemCode(
      request.app,
      codeKey,
      { deviceKind, code: given },
      {
        name: deviceName(userAgent),
        address: request.client.address?.slice(0, 64) ?? null,
        userAgent: plainAgent(userAgent),
      },
    );
    if (isRefusal(done)) {
      const resetAt = done.code === 'PAIRING_CODE_INVALID' ? throttle(request).failures.take() : undefined;
      return resetAt === undefined
        ? done
        : refuse('TOO_MANY', { resetAt }, 'Too many invalid pairing codes. A valid one is still accepted.');
    }
    const made = await devices.verify(done.id, done.secret);
    if (!made) return refuse('DEVICES_DAMAGED'); // removed again in this very moment
    return {
      body: { status: 'ok', authRequired: true, device: { ...made, current: true } },
      headers: { 'Set-Cookie': cookies.give(done.id, done.secret, request.client.secure) },
    };
  }
}

const bodyBytesMax = 16_384;
const challengesPerMinute = 120;
const challengesEach = 60;
const failuresPerMinute = 20;
const store = ['STORE_UNAVAILABLE', 'OWNER_ELSEWHERE', 'OUTCOME_UNKNOWN', 'DISK_LOW', 'BUSY'] as const;

const isCurrent = (
  id: string,
  { caller: by, authenticated }: Pick<HttpRequest, 'caller' | 'authenticated'>,
): boolean => authenticated && by.type === 'device' && by.id === id;
const shown = (one: Device, call: Pick<HttpRequest, 'caller' | 'authenticated'>) => ({
  ...one,
  current: isCurrent(one.id, call),
});

const nothing = z.looseObject({});
const proof = z.looseObject({ challengeId: z.string().max(200).optional() });
const code = z.looseObject({ code: z.string().max(200) });
const lifetime = { expiresAt: z.iso.datetime(), ttlSeconds: z.int() };
const challenge = z.object({ challengeId: z.string(), nonce: z.string(), path: z.string(), ...lifetime });
const minted = z.object({
  status: z.literal('ok'),
  code: z.string().describe('XXXX-XXXX-XXXX'),
  ...lifetime,
});
const granted = z.object({ status: z.literal('ok'), grant: z.string(), ...lifetime });
const device = z.object({
  id: z.string(),
  name: z.string(),
  person: z.string().optional().describe('Who uses it.'),
  kind: z.enum(['local', 'remote', 'token']),
  createdAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime(),
  lastIp: z.string().optional(),
  userAgent: z.string().optional(),
  current: z.boolean().describe('True for the calling browser.'),
});
const paired = z.object({ status: z.literal('ok'), authRequired: z.literal(true), device });
