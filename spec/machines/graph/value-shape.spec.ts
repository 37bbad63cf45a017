import { expect } from 'chai';
import fc from 'fast-check';
import type { Json } from '../../../machines/outputs.js';
import { misfits, shapeFaults, type ValueShape } from '../../../machines/graph/value-shape.js';
import { wild } from './graphs.js';

const order: ValueShape = {
  type: 'object',
  required: ['to', 'items'],
  additionalProperties: false,
  properties: {
    to: { type: 'string', minLength: 2, maxLength: 5 },
    items: { type: 'array', maxItems: 2, items: { type: 'integer', minimum: 1, maximum: 9 } },
    how: { enum: ['post', 'pigeon'] },
    note: { type: ['string', 'null'] },
    v: { const: { a: [1] } },
  },
};

describe('shapes of values', () => {
  it('fit what fits', () => {
    expect(shapeFaults(order)).to.deep.equal([]);
    expect(
      misfits(order, { to: 'Ann', items: [1, 9], how: 'post', note: null, v: { a: [1] } }),
    ).to.deep.equal([]);
    expect(misfits({}, undefined)).to.deep.equal([]);
  });

  it('name every misfit with the way to it', () => {
    expect(
      misfits(order, { to: 'A', items: [0, 10, 2.5], how: 'cat', note: 3, v: { a: [2] }, more: 1 }),
    ).to.deep.equal([
      'to must have at least 2 characters',
      'items must have at most 2 items',
      'items.0 must be at least 1',
      'items.1 must be at most 9',
      'items.2 must be integer',
      'how must be one of ["post","pigeon"]',
      'note must be string or null',
      'v must be {"a":[1]}',
      'more is not expected',
    ]);
    expect(misfits(order, {})).to.deep.equal(['to is required', 'items is required']);
    expect(misfits(order, 'x')).to.deep.equal(['the value must be object']);
  });

  it('take no inherited member for a given one', () => {
    expect(misfits({ type: 'object', required: ['toString'] }, {})).to.deep.equal(['toString is required']);
    expect(
      misfits(
        { type: 'object', additionalProperties: false, properties: {} },
        JSON.parse('{"constructor":1}') as Json,
      ),
    ).to.deep.equal(['constructor is not expected']);
  });

  it('are refused where they cannot be checked in linear time, or nest for ever', () => {
    expect(shapeFaults({ pattern: '(a+)+' })).to.deep.equal(['pattern is not supported here']);
    expect(shapeFaults({ $ref: '#' })).to.deep.equal(['$ref is not supported here']);
    expect(shapeFaults({ properties: { a: { type: 'thing' } } })).to.deep.equal([
      'properties.a.type is none of string, number, integer, boolean, object, array, null',
    ]);
    const deep = Array.from({ length: 12 }).reduce<object>((inside) => ({ items: inside }), {});
    expect(shapeFaults(deep)[0]).to.include('nested deeper than 8');
  });

  it('never throw', () => {
    fc.assert(
      fc.property(wild, wild, (shape, value) => {
        if (shapeFaults(shape).length === 0) misfits(shape as ValueShape, value as Json);
      }),
      { numRuns: 500 },
    );
  });
});
