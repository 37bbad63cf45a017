import { expect } from 'chai';
import fc from 'fast-check';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEvidence } from '../../../lib/records/evidence/evidence.js';
import { graph, likely, wild, word } from '../../machines/graph/graphs.js';
import { openHouse, type House } from './fixture.js';

/**
 * What no one would write, asked of the real gateway: every answer is an answer, and refused definitions tell
 * all their faults.
 */
describe('/api/workflow-definitions under fuzz', () => {
  let house: House;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'workflow-fuzz-'));
    house = await openHouse({ evidence: await openEvidence({ standard: folder }) });
  });
  after(async () => {
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });

  const root = '/api/workflow-definitions';
  const asWritten = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && !Array.isArray(value);

  it('plans anything: 200 with every fault, or 400; never a 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(wild, likely, graph), async (definition) => {
        const { status, body } = await house.operator.post(`${root}/plan`, { definition });
        expect(status).to.equal(asWritten(definition) ? 200 : 400);
        if (status !== 200) return;
        expect(body.ok).to.equal(body.validation.errors.length === 0);
        expect(body.execution.ok).to.equal(body.ok);
        for (const error of body.validation.errors) expect(error).to.include.keys('code', 'message');
      }),
      { numRuns: 300 },
    );
  });

  it('saves exactly what it plans without a fault, and tells the same faults otherwise', async () => {
    let n = 0;
    let saved = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(likely, { weight: 3, arbitrary: graph }), async (value) => {
        n += 1;
        const definition = { ...(value as object), id: `f${n}`, name: `f${n}`, status: 'active' };
        const planned = (await house.operator.post(`${root}/plan`, { definition })).body;
        const { status, body } = await house.operator.post(`${root}/mutate`, {
          operation: 'create',
          definition,
        });
        expect(status, JSON.stringify(body).slice(0, 300)).to.equal(planned.ok ? 201 : 400);
        if (planned.ok) {
          saved += 1;
          expect(body.definition.nodes).to.deep.equal(planned.definition.nodes);
        } else expect(body.errors).to.deep.equal(planned.validation.errors);
      }),
      { numRuns: 200 },
    );
    expect(saved).to.be.greaterThan(10);
  });

  it('reads conditions of all kinds without a 5xx, and names each faulty one by its edge', async () => {
    const condition = fc.oneof(wild, fc.record({ path: word, op: word, value: wild }));
    await fc.assert(
      fc.asyncProperty(fc.array(condition, { minLength: 1, maxLength: 8 }), async (when) => {
        const definition = {
          title: 'x',
          nodes: [
            { id: 't', type: 'trigger' },
            { id: 'a', type: 'step', actor: { kind: 'noop' } },
            { id: 'b', type: 'step', actor: { kind: 'noop' } },
          ],
          edges: [
            { id: 'ta', from: 't', to: 'a' },
            { id: 'ab', from: 'a', to: 'b', when },
          ],
        };
        const { status, body } = await house.operator.post(`${root}/plan`, { definition });
        expect(status).to.equal(200);
        for (const { code, ref, path } of body.validation.errors) {
          expect([code, ref]).to.be.deep.oneOf([
            ['bad-edge-condition', 'ab'],
            ['unknown-condition-step', 'ab'],
          ]);
          expect(path).to.match(/^edges\[1\]\.when\[\d\]$/);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('updates with any patch and any version: 200, 400 or 409, and the version grows by one or not at all', async () => {
    await house.operator.post(`${root}/mutate`, {
      operation: 'create',
      definition: { title: 'Target', nodes: [{ id: 'a', type: 'step', actor: { kind: 'noop' } }] },
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(wild, likely, graph),
        fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
        async (patch, expectedVersion) => {
          const before = (await house.operator.get(`${root}/target`)).body.version as number;
          const { status } = await house.operator.post(`${root}/mutate`, {
            operation: 'update',
            workflowId: 'target',
            patch,
            expectedVersion,
          });
          expect(status).to.be.oneOf([200, 400, 409]);
          expect((await house.operator.get(`${root}/target`)).body.version).to.equal(
            status === 200 ? before + 1 : before,
          );
        },
      ),
      { numRuns: 150 },
    );
  });

  it('answers for any id and any body of its small routes', async () => {
    await fc.assert(
      fc.asyncProperty(
        word,
        fc.constantFrom('retire', 'pause', 'resume', 'duplicate', 'plan', 'versions', ''),
        wild,
        async (id, verb, body) => {
          const path = `${root}/${encodeURIComponent(`x${id}`)}${verb && `/${verb}`}`;
          for (const answer of [
            await house.operator.post(path, body),
            await house.operator.get(path),
            await house.operator.call('PUT', path, body),
          ])
            expect(answer.status, path).to.be.within(200, 499);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('answers for any body of the routes of runs, and a run that is parked stays as it was', async () => {
    await house.operator.post(`${root}/mutate`, {
      operation: 'create',
      definition: {
        title: 'Parked',
        concurrency: 8,
        nodes: [
          { id: 'g', type: 'gate', gate: { kind: 'approval', approvalRef: 'go', description: 'Go on?' } },
          { id: 'a', type: 'step', actor: { kind: 'noop' }, instructions: 'x' },
        ],
        edges: [{ id: 'ga', from: 'g', to: 'a' }],
      },
    });
    const {
      body: { runId },
    } = await house.operator.post(`${root}/parked/run`);
    const run = `${root}/parked/runs/${runId}`;
    const routes = [
      ['POST', '/resolve-gate'],
      ['POST', '/gate-approval/escalate'],
      ['PATCH', '/pending-steps/a'],
      ['PATCH', '/pending-steps/nobody'],
      ['POST', '/rerun'],
      ['POST', '/steps/a/output'],
      ['GET', '/receipts?after=x&limit=-1'],
    ] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...routes),
        fc.oneof(
          wild,
          fc.record(
            { decision: word, note: wild, prompt: wild, fromNode: word, input: wild, idempotencyKey: wild },
            { requiredKeys: [] },
          ),
        ),
        async ([method, path], body) => {
          const { status } = await house.operator.call(
            method,
            run + path,
            method === 'GET' ? undefined : body,
          );
          expect(status, `${method} ${path} ${JSON.stringify(body)}`).to.be.within(200, 499);
          expect((await house.operator.get(run)).body.status).to.equal('parked');
        },
      ),
      { numRuns: 150 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(`${root}/parked/run`, '/api/workflow-runs/by-name'),
        wild,
        fc.record(
          {
            name: word,
            input: wild,
            idempotencyKey: wild,
            stepOverrides: wild,
            reportMode: wild,
            sessionId: wild,
          },
          { requiredKeys: [] },
        ),
        async (path, input, more) => {
          const { status } = await house.operator.post(path, { ...more, input });
          expect(status, path).to.be.within(200, 499);
        },
      ),
      { numRuns: 60 },
    );
    expect((await house.operator.post(`${run}/cancel`, { reason: 7 })).status).to.be.oneOf([200, 400]);
  });
});
