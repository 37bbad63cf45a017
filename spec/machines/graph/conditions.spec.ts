import { expect } from 'chai';
import fc from 'fast-check';
import {
  compare,
  conditionOperators,
  holds,
  parseCondition,
  type Condition,
  type Patterns,
} from '../../../machines/graph/conditions.js';
import {
  parsePath,
  pathsIn,
  readPath,
  render,
  renderJson,
  type Scope,
} from '../../../machines/graph/paths.js';
import { wild, word } from './graphs.js';

const scope: Scope = {
  steps: {
    draft: {
      status: 'done',
      attempt: 2,
      outcome: {
        summary: 'Wrote it',
        artifacts: ['a.md', 'b.md'],
        fields: { score: 7, deep: { list: ['x', 'y'] }, name: '{{input.secret}}' },
      },
    },
    'v1.2': { status: 'failed', outcome: null },
  },
  run: { id: 'run-1', rounds: 3, status: 'running' },
  trigger: { kind: 'event', source: 'webhook', event: 'pushed', payload: { n: 3, 'x-y': true } },
  input: { secret: 's3', to: null },
};
const at = (path: string) => {
  const parsed = parsePath(path, (id) => Object.hasOwn(scope.steps, id));
  return parsed && readPath(parsed, scope);
};
const judged = (path: string, op: string, value?: unknown) =>
  holds([{ path, op, ...(value !== undefined && { value }) } as Condition], scope);

describe('paths', () => {
  it('read a run, and only what the grammar names', () => {
    expect(at('steps.draft.status')).to.equal('done');
    expect(at('steps.draft.outcome.fields.deep.list.1')).to.equal('y');
    expect(at('steps.v1.2.status')).to.equal('failed');
    expect(at('trigger.payload.x-y')).to.equal(true);
    expect(at('input.to')).to.equal(null);
    expect(at('steps.draft.outcome.fields.none')).to.equal(undefined);
    for (const text of [
      '',
      'steps',
      'steps.draft',
      'steps.draft.outcome',
      'steps.draft.outcome.secret',
      'run.constructor',
      'input.__proto__',
      'input.constructor.name',
      'process.env.HOME',
      'trigger',
      'trigger.payload.',
      'steps..status',
      `input.${'x'.repeat(600)}`,
    ]) {
      expect(parsePath(text), text).to.equal(undefined);
    }
  });

  it('never reach what is inherited', () => {
    for (const path of [
      'input.toString',
      'trigger.payload.hasOwnProperty',
      'steps.draft.outcome.artifacts',
      'steps.draft.outcome.fields.deep.list.length',
    ])
      expect(at(path), path).to.satisfy((found: unknown) => found === undefined || Array.isArray(found));
  });

  it('split ids with dots where a node has that id', () => {
    const ids = (...known: string[]) =>
      parsePath('steps.a.outcome.fields.status', (id) => known.includes(id));
    expect(ids('a')).to.deep.include({ nodeId: 'a', keys: ['outcome', 'fields', 'status'] });
    expect(ids('a.outcome.fields')).to.deep.include({ nodeId: 'a.outcome.fields', keys: ['status'] });
  });

  it('fill texts once: what they bring is not filled again', () => {
    expect(pathsIn('{{ input.secret }} and {{x}}')).to.deep.equal(['input.secret', 'x']);
    expect(
      render(
        '{{steps.draft.outcome.fields.name}}/{{ steps.draft.outcome.summary }}/{{nothing}}/{{input.none}}',
        scope,
      ),
    ).to.equal('{{input.secret}}/Wrote it/{{nothing}}/');
    expect(
      renderJson(
        {
          n: '{{trigger.payload.n}}',
          text: 'n={{trigger.payload.n}}',
          list: ['{{steps.draft.outcome.artifacts}}'],
        },
        scope,
      ),
    ).to.deep.equal({ n: 3, text: 'n=3', list: [['a.md', 'b.md']] });
  });
});

describe('conditions', () => {
  it('compare values of one kind; of two kinds nothing is in order', () => {
    expect(judged('run.rounds', 'gte', 3)).to.equal(true);
    expect(judged('run.rounds', 'gt', '2')).to.equal(false);
    expect(judged('trigger.event', 'lt', 'q')).to.equal(true);
    expect(judged('steps.draft.outcome.artifacts', 'contains', 'a.md')).to.equal(true);
    expect(judged('steps.draft.outcome.summary', 'startsWith', 'Wrote')).to.equal(true);
    expect(judged('input.to', 'absent')).to.equal(true);
    expect(judged('input.none', 'eq', null)).to.equal(true);
    expect(judged('input.none', 'exists')).to.equal(false);
    expect(judged('process.exit', 'absent'), 'a path out of the grammar never holds').to.equal(false);
  });

  it('hold together only', () => {
    const two = (rounds: number): readonly Condition[] => [
      { path: 'run.status', op: 'eq', value: 'running' },
      { path: 'run.rounds', op: 'eq', value: rounds },
    ];
    expect([holds(two(3), scope), holds(two(4), scope), holds([], scope)]).to.deep.equal([true, false, true]);
  });

  it('hand patterns to their engine, and hold never without one', () => {
    const patterns: Patterns = {
      fault: (pattern) => (pattern === '(' ? 'it is not closed' : undefined),
      test: (pattern, text) => pattern === '^pu' && text.startsWith('pu'),
    };
    const condition: Condition = { path: 'trigger.event', op: 'matches', value: '^pu' };
    expect([holds([condition], scope, patterns), holds([condition], scope)]).to.deep.equal([true, false]);
    expect(parseCondition({ ...condition, value: '(' }, { patterns }).faults?.[0]?.message).to.include(
      'it is not closed',
    );
    expect(parseCondition(condition).faults?.[0]).to.include({
      code: 'bad-condition-value',
      message: 'matches is not available here',
    });
  });

  it('say everything that is wrong with one at once', () => {
    const { faults } = parseCondition(
      { path: 'steps.gone.status', op: 'evaluate', value: {}, code: 'x' },
      { isNode: () => false },
    );
    expect(faults?.map(({ code }) => code)).to.deep.equal([
      'bad-condition',
      'unknown-condition-step',
      'bad-condition-operator',
    ]);
    expect(
      parseCondition({ path: 'input.x', op: 'gt', value: true }).faults?.map(({ code }) => code),
    ).to.deep.equal(['bad-condition-value']);
    expect(parseCondition({ path: 'input.x', op: 'exists' })).to.deep.equal({
      path: { root: 'input', keys: ['x'] },
      condition: { path: 'input.x', op: 'exists' },
    });
  });

  it('never throw, whatever the condition and whatever the run', () => {
    fc.assert(
      fc.property(wild, (value) => {
        parseCondition(value);
      }),
      { numRuns: 500 },
    );
    const condition = fc.record({
      path: fc.oneof(
        word,
        fc.constantFrom('input', 'input.a', 'steps.a.status', 'trigger.payload.a', 'run.rounds'),
      ),
      op: fc.constantFrom(...conditionOperators),
      value: fc.oneof(word, fc.integer(), fc.constant(null)),
    });
    fc.assert(
      fc.property(fc.array(condition), wild, (conditions, input) => {
        const strange = {
          ...scope,
          input,
          steps: { a: input },
          trigger: { payload: input },
        } as unknown as Scope; // a run as no run can be
        expect(holds(conditions, strange)).to.be.a('boolean');
        render(conditions.map(({ path }) => `{{${path}}}`).join(), strange);
      }),
      { numRuns: 500 },
    );
  });

  it('say the contrary of each other where they are contraries', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(fc.option(value, { nil: undefined }), value, (found, wanted) => {
        expect(compare('eq', found, wanted)).to.equal(!compare('ne', found, wanted));
        expect(compare('exists', found, undefined)).to.equal(!compare('absent', found, undefined));
        expect(compare('gt', found, wanted) && compare('lte', found, wanted)).to.equal(false);
      }),
    );
  });
});
