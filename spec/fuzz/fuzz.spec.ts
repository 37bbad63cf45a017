import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ask } from './ask.js';
import { fuzz } from './campaign.js';
import { readDocument } from './document.js';
import { judgeOf } from './judge.js';
import { logWatch } from './log-watch.js';
import { shrink } from './shrink.js';
import type { Answer } from './wire.js';

const ask: Ask = {
  n: 0,
  operation: 'GET /api/things/{id}',
  caller: 'operator',
  method: 'GET',
  path: '/api/things/1',
  query: [],
  headers: [['Authorization', 'Bearer x']],
  body: undefined,
  framing: 'length',
  rude: false,
  spoiled: [],
};
const answer = (status: number, body: unknown): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  ms: 1,
});

/** A short run on every build; `npm run fuzz -- --requests 100000 --seed 7` goes further. */
describe('the fuzzer', () => {
  it('finds nothing in 3,000 requests and frames, and most routes answer some of them with success', async () => {
    const report = await fuzz({ requests: 3_000, seed: 1, slowMs: 3_000 });
    expect(report.findings, JSON.stringify(report.findings, undefined, 2)).to.deep.equal([]);
    expect(report.requests + report.frames).to.be.at.least(3_000);
    expect(
      report.routes - report.unreached.length,
      `not answered with success: ${report.unreached.join(', ')}`,
    ).to.be.above(0.7 * report.routes);
  });

  describe('judges an answer', () => {
    const document = readDocument({
      paths: {
        '/api/things/{id}': {
          get: {
            'x-authority': {
              callers: {
                none: 'UNAUTHENTICATED',
                bad: 'UNAUTHENTICATED',
                operator: 'yes',
                device: 'yes',
                self: 'FORBIDDEN',
                above: 'FORBIDDEN',
                below: 'FORBIDDEN',
                outsider: 'FORBIDDEN',
              },
            },
            responses: {
              200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
              409: { 'x-codes': ['EXISTS'] },
            },
          },
        },
      },
      components: {
        schemas: { Thing: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } },
      },
      'x-refusals': Object.fromEntries(
        Object.entries({ NOT_FOUND: 404, CONFLICT: 409, EXISTS: 409, BUSY: 503 }).map(([code, status]) => [
          code,
          { status },
        ]),
      ),
    });
    const judge = judgeOf(document, {
      secrets: () => ['canary-of-the-operator'],
      home: '/srv/home-of-it',
      install: '/opt/program-of-it',
    });
    const kinds = (from: Partial<Ask>, given: Answer): string[] =>
      judge.faultsOf({ ...ask, ...from }, given).map(({ key }) => key.split(':', 1)[0] ?? '');
    const refusal = (code: string, more: object = {}): object => ({ error: 'A sentence.', code, ...more });

    it('and lets good ones pass', () => {
      for (const [status, body] of [
        [200, { id: '1' }],
        [404, refusal('NOT_FOUND')],
        [409, refusal('EXISTS')],
        [503, refusal('BUSY')],
      ] as const)
        expect(kinds({}, answer(status, body)), String(status)).to.deep.equal([]);
      expect(kinds({ rude: true }, { ...answer(0, ''), headers: {} })).to.deep.equal([]);
    });

    const bad: Record<string, readonly [from: Partial<Ask>, given: Answer, kind: string]> = {
      'a 500': [{}, answer(500, refusal('INTERNAL')), 'answers 500'],
      'a 503 that says nothing': [{}, answer(503, 'Unavailable'), 'answers 503'],
      'a refusal without a code': [{}, answer(400, { error: 'No.' }), 'refusal without error and code'],
      'a code that nobody knows': [{}, answer(400, refusal('ODD')), 'unknown code ODD'],
      'a code that the route does not name': [{}, answer(409, refusal('CONFLICT')), 'undocumented CONFLICT'],
      'a stack trace': [
        {},
        answer(400, refusal('NOT_FOUND', { more: 'Error: x\n    at run (file.js:1:2)' })),
        'stack trace',
      ],
      'an error of the system': [
        {},
        answer(404, refusal('NOT_FOUND', { more: 'ENOENT: no such file' })),
        'stack trace',
      ],
      'a place of the server': [
        {},
        answer(404, refusal('NOT_FOUND', { more: '/srv/home-of-it/org' })),
        'path of the server in a refusal',
      ],
      'a secret': [{}, answer(200, { id: 'canary-of-the-operator' }), 'secret in an answer'],
      'an answer that is not of its schema': [{}, answer(200, { name: 'x' }), 'not its schema (/'],
      'nobody let in': [{ caller: 'none' }, answer(200, { id: '1' }), 'let in none'],
      'an agent let in where none may': [{ caller: 'agent' }, answer(200, { id: '1' }), 'let in agent'],
      'a cut connection': [{}, { ...answer(0, ''), headers: {} }, 'cut'],
      'no answer': [{}, { ...answer(0, ''), hung: true }, 'hung'],
    };
    for (const [name, [from, given, kind]] of Object.entries(bad)) {
      it(`and notices ${name}`, () =>
        expect(
          kinds(from, given).some((found) => found.startsWith(kind.replace(' (/', ''))),
          kinds(from, given).join(),
        ).to.equal(true));
    }
  });

  it('shrinks a request to the part that matters', async () => {
    const body = Buffer.from(JSON.stringify({ a: 1, b: { c: 'x'.repeat(64), d: [1, 2, 3] }, e: 'e' }));
    const { ask: least, again } = await shrink({ ...ask, query: ['x=1'], body }, ({ body: given }) =>
      Promise.resolve(given?.includes('"c"') === true),
    );
    expect(again).to.equal(true);
    expect({ query: least.query, headers: least.headers, body: String(least.body) }).to.deep.equal({
      query: [],
      headers: [],
      body: '{"b":{"c":"xxxxxxxx"}}',
    });
  });

  it('reads in a log what must not be there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fuzz-log-'));
    try {
      const file = join(folder, 'gateway.log');
      const good = '{"level":30,"pid":1,"msg":"fine"}\n';
      const read = logWatch(file, () => ['canary']);
      const faultsAfter = async (text: string): Promise<string[]> => {
        all += text;
        await writeFile(file, all);
        return read();
      };
      let all = '';
      expect(await faultsAfter(good)).to.deep.equal([]);
      expect(await faultsAfter('{"level":50,"pid":1,"msg":"broke"}\n')).to.have.length(1);
      expect(await faultsAfter('{"level":30,"pid":1,"msg":"a canary"}\n')).to.have.length(1);
      expect(await faultsAfter('{"level":30,"pid":1,"msg":"\u009b31m"}\n')).to.have.length(1);
      expect(await faultsAfter('{"level":30,"msg":"forged"}\n')).to.have.length(1);
      expect(await faultsAfter(`half of ${good}${good.slice(0, 5)}`)).to.have.length(1);
      expect(await faultsAfter(good.slice(5))).to.deep.equal([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
