import { expect } from 'chai';
import { authorityIds, callerKinds, ignoresRelation, verdict } from '../../../lib/gateway/authorization.js';
import { cookieJar } from '../../../lib/gateway/authentication.js';
import { codesOf } from '../../../lib/gateway/openapi.js';
import { routesOf } from '../../../lib/gateway/routes/index.js';
import type { Evidence } from '../../../lib/records/evidence/evidence.js';
import type { Records } from '../../../lib/records/records.js';
import { refusalTable } from '../../../machines/refusals.js';
import { openHouse } from './fixture.js';

describe('GET /api/openapi.json', () => {
  const facts = {
    version: '1.2.3',
    instance: 'default',
    startedAt: 0,
    authRequired: true,
    networkExposed: false,
    host: '127.0.0.1',
    port: 1,
  };
  const routes = routesOf(facts, { backup: async (target = '') => ({ target, files: 0, bytes: 0, seq: 0 }) });

  it('describes every route: schema, authority, refusals', async () => {
    const house = await openHouse({
      version: '1.2.3',
      backup: async (target = '') => ({ target, files: 0, bytes: 0, seq: 0 }),
    });
    try {
      const { status, body, headers } = await house.operator.get('/api/openapi.json');
      expect(status).to.equal(200);
      expect(headers['content-type']).to.equal('application/json; charset=utf-8');
      expect(body).to.deep.include({ openapi: '3.1.0', info: { title: 'Troupe gateway', version: '1.2.3' } });
      for (const route of routes) {
        const operation = body.paths[route.path.replace(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()];
        const name = `${route.method} ${route.path}`;
        expect(operation, name).to.be.an('object');
        expect(operation.summary, name).to.match(/\.$|\?$/);
        const success = Object.values(operation.responses[String(route.schema.status ?? 200)].content)[0] as {
          schema: unknown;
        };
        expect(success.schema, name).to.be.an('object');
        expect(operation['x-authority'].callers, name).to.have.all.keys(...callerKinds);
        if (route.schema.body)
          expect(operation.requestBody.content['application/json'].schema, name).to.be.an('object');
        for (const code of codesOf(route))
          expect(operation.responses[String(refusalTable[code][0])]['x-codes'], name).to.include(code);
        for (const [, parameter] of route.path.matchAll(/:(\w+)/g)) {
          expect(
            operation.parameters.map((each: { name: string; in: string }) => `${each.in} ${each.name}`),
            name,
          ).to.include(`path ${parameter}`);
        }
      }
      const texts = JSON.stringify(body);
      for (const [, reference] of texts.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
        expect(body.components.schemas, reference).to.have.property(reference ?? '');
      expect(texts).not.to.include('#/$defs');
    } finally {
      await house.close();
    }
  });

  it('knows every row of the authority table, and each row a route', () => {
    const [records, evidence] = [{ runs: {} } as Records, {} as Evidence]; // only looked into by a request
    const pairing = { devices: {} as Records['devices'], cookies: cookieJar('default'), codeKey: 'x' };
    const all = routesOf(facts, {
      backup: async (target = '') => ({ target, files: 0, bytes: 0, seq: 0 }),
      records,
      evidence,
      pairing,
      hookSecret: 'of no gateway',
      console: { config: () => ({}), edit: async () => ({}), log: async () => [] },
    });
    expect([...new Set(all.map(({ authority }) => authority)), 'ws.watch', 'inspect.watch']).to.have.members(
      authorityIds,
    );
  });

  it('has a target wherever agents are judged by what they are to it', () => {
    for (const route of routes)
      if (!ignoresRelation(route.authority)) expect(route.schema.target, route.path).to.be.a('string');
  });

  it('makes every mutation rehearsable or says that it is not', () => {
    for (const route of routes) {
      if (route.method === 'GET') continue;
      // Whatever a browser sends with its farewell, it may go
      if (route.path !== '/api/auth/logout') expect(route.schema.body, route.path).not.to.equal(undefined);
      if (!route.schema.plan) expect(codesOf(route), route.path).to.include('DRY_RUN_UNSUPPORTED');
      if (!['/api/workflow-events', '/api/workers/join', '/a2a/:name'].includes(route.path))
        // Those have secrets of their own
        expect(verdict(route.authority, 'none'), route.path).to.equal('UNAUTHENTICATED');
    }
  });
});
