import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { and, not, setup } from 'xstate';
import { chartOf } from '../../../lib/inspector/chart/chart-of.js';
import type { ChartState } from '../../../lib/inspector/chart/definition.js';
import type { Box, Drawing, Point } from '../../../lib/inspector/chart/drawing.js';
import { layOut } from '../../../lib/inspector/chart/lay-out.js';
import { svgOf } from '../../../lib/inspector/chart/svg-of.js';
import { machineHash } from '../../../lib/inspector/machines.js';
import { effect } from '../../../machines/outputs.js';
import { activeStates } from '../../../machines/state-names.js';
import { catalogue } from '../../charts/catalogue.js';

/**
 * From a live machine to a picture: nothing is left out, nothing lies on top of something else, and no word
 * is markup.
 */
const every = [
  ...catalogue.map(({ name, machine }) => ({ name, machine })),
  { name: 'nested', machine: nested() },
  { name: 'crossing', machine: crossing() },
];

describe('a chart', () => {
  for (const { name, machine } of every) {
    describe(`of ${name}`, () => {
      const chart = chartOf(machine);
      const drawing = layOut(chart);

      it('has a box for each state and an arrow or a line for each transition', () => {
        const paths = pathsOf(chart.root);
        expect(
          drawing.boxes.filter(({ shape: look }) => look !== 'any').map(({ path }) => path),
        ).to.have.members(paths);
        const told = new Set([
          ...drawing.arrows.flatMap(({ edges }) => edges),
          ...drawing.boxes.flatMap(({ lines }) => lines.flatMap(({ edges }) => edges)),
        ]);
        expect(
          chart.edges.filter(({ id }) => !told.has(id)),
          'transitions that nothing shows',
        ).to.deep.equal([]);
        for (const { points } of drawing.arrows) expect(points.length).to.be.at.least(2);
      });

      it('keeps boxes apart, and inside of what they are part of', () => {
        expect(overlaps(drawing)).to.deep.equal([]);
        const outside = drawing.boxes.filter(
          (box) =>
            !drawing.boxes.filter((other) => isAround(other, box)).every((other) => contains(other, box)),
        );
        expect(outside.map(({ path }) => path)).to.deep.equal([]);
        for (const { x, y, width, height } of drawing.boxes)
          expect([x >= 0, y >= 0, x + width <= drawing.width, y + height <= drawing.height]).to.not.include(
            false,
          );
      });

      // They ended at the outermost state around: which of four states a turn leads to could not be seen
      it('ends each arrow at the very states that it leaves and reaches', () => {
        const isAt = ({ x, y }: Point, box: Box): boolean =>
          x > box.x - 2 && x < box.x + box.width + 2 && y > box.y - 2 && y < box.y + box.height + 2;
        const wrong = drawing.arrows.flatMap(({ from, to, points, edges }) => {
          const [start, end] = [points[0] as Point, points.at(-1) as Point];
          const at = (path: string, point: Point): boolean =>
            drawing.boxes.some((box) => box.path === path && isAt(point, box));
          const ends = edges.length === 0 ? [] : at(from, start) ? [] : [`${from} → … ${to}`];
          return at(to, end) && !insideOf(to, end, drawing) ? ends : [...ends, `${from} … → ${to}`];
        });
        expect(wrong).to.deep.equal([]);
      });

      it('is well-formed and the same every time', () => {
        const svg = svgOf(drawing);
        expect(svg).to.equal(svgOf(layOut(chartOf(machine))));
        expect(unbalanced(svg)).to.deep.equal([]);
        expect(svg).to.not.match(/NaN|undefined|Infinity|\[object/);
      });
    });
  }

  // Arrows to a history state ended at the box around it, and it stood there unconnected.
  it('ends the arrow to a history state at that state', () => {
    const book = setup({}).createMachine({
      id: 'book',
      initial: 'open',
      states: {
        open: {
          initial: 'one',
          on: { pause: 'shut' },
          states: { one: { on: { next: 'two' } }, two: {}, again: { type: 'history' } },
        },
        shut: { on: { resume: 'open.again', restart: 'open' } },
      },
    });
    const { boxes, arrows } = layOut(chartOf(book));
    const box = boxes.find(({ path }) => path === 'open.again') as Box;
    const end = arrows.find(({ to }) => to === 'open.again')?.points.at(-1);
    expect(end?.x).to.be.within(box.x, box.x + box.width);
    expect([box.y, box.y + box.height]).to.include(end?.y);
    expect(arrows.filter(({ from }) => from === 'shut').map(({ to }) => to)).to.have.members([
      'open',
      'open.again',
    ]);
  });

  it('says by the name of a state what XState named for itself, and whole where one points what is cut', () => {
    const svg = svgOf(layOut(chartOf(crossing())));
    expect(svg).to.include('>paying done<').and.include('>paying failed<').and.include('>method ends<');
    expect(svg).to.not.include('crossing.');
    // What can be broken is not cut
    expect(linesOfLabel(svg, 'checkout')).to.deep.equal([
      'checkout',
      '[allowed(region = the European Union,',
      'age = 18)]',
    ]);
    expect(svg).to.match(/>theCustomerHasPaid[^<]*…<\/tspan><title>[^<]*theCustomerHasPaid[^<]*InCoins</);
    expect(svg).to.match(
      />entry \/ writeTheReceipt, tellTheWarehouse,<title>entry \/ [^<]*thankTheCustomer</,
    );
    expect(svg).to.match(/>\u00a0+thankTheCustomer</);
  });

  // The arrows of a machine without an id had no heads: a name as `(machine)-tip` is no address in a style
  it('names its parts so that they can be addressed, whatever the id of the machine', () => {
    const svg = svgOf(
      layOut(chartOf(setup({}).createMachine({ initial: 'a', states: { a: { on: { go: 'b' } }, b: {} } }))),
    );
    const names = new Set([...svg.matchAll(/ id="([^"]+)"/g)].map(([, name]) => name));
    const used = [...svg.matchAll(/"url\(#([^"]*)\)"/g)].map(([, name]) => name);
    expect(used.length).to.be.greaterThan(2);
    for (const name of used) expect([...names].join()).to.include(name as string);
    expect([...names].join()).to.match(/^[\w,-]+$/);
  });

  it('names invokes, delays, guards and where a state begins', () => {
    const chart = chartOf(nested());
    expect(chart.edges.find(({ event }) => event === 'after 1.5 s')).to.include({
      from: 'outer.left.a',
      delay: '1500',
      guard: 'not ready',
    });
    expect(chart.edges.find(({ event }) => event === 'work failed')).to.include({
      type: 'xstate.error.actor.work',
      guard: 'ready and calm',
    });
    expect(chart.root).to.include({ initial: 'outer', type: 'compound' });
    expect(svgOf(layOut(chart)))
      .to.include('⚙ work-hand')
      .and.include('after 1.5 s [not ready]')
      .and.include('entry / sing');
  });

  /** `is` stood on five arrows, and nothing told them apart. */
  it('tells guards of one name apart by their parameters, and hashes as it did before it did', () => {
    const chart = chartOf(
      setup({
        types: { context: {} as { status: string } },
        guards: { is: ({ context }, { status }: { status: string }) => context.status === status },
      }).createMachine({
        id: 'mirror',
        context: { status: 'new' },
        initial: 'watching',
        states: {
          watching: {
            always: [
              { guard: { type: 'is', params: { status: 'failed' } }, target: 'failed' },
              { guard: { type: 'is', params: { status: 'done' } }, target: 'done' },
            ],
          },
          failed: {},
          done: {},
        },
      }),
    );
    expect(chart.edges.map(({ guard, condition }) => [guard, condition])).to.deep.equal([
      ['is: failed', 'is(status = failed)'],
      ['is: done', 'is(status = done)'],
    ]);
    expect(svgOf(layOut(chart)))
      .to.include('always [is(status = failed)]')
      .and.include('always [is(status = done)]');
    const edges = chart.edges.map(({ condition: _shown, ...edge }) => edge);
    expect(machineHash(chart)).to.equal(
      createHash('sha256')
        .update(JSON.stringify({ ...chart, edges }))
        .digest('hex'),
    );
  });

  it('lights the states and transitions that it is told, and no others', () => {
    const svg = svgOf(layOut(chartOf(nested())), {
      lit: activeStates({ outer: { left: 'b', right: 'c' } }),
      taken: ['e2'],
    });
    const lit = [...svg.matchAll(/<g class="state [^"]*\blit" data-state="([^"]+)"/g)].map(
      (match) => match[1],
    );
    expect(lit).to.have.members(['outer', 'outer.left', 'outer.left.b', 'outer.right', 'outer.right.c']);
    expect(
      [...svg.matchAll(/<path class="arrow lit"[^>]*data-edges="([^"]+)"/g)].map((match) => match[1]),
    ).to.deep.equal(['e2']);
  });

  it('shows words as words, whatever they hold', () => {
    const evil = '"><script>alert(1)</script>&\u0000';
    const chart = chartOf(nested());
    const svg = svgOf(
      layOut({
        ...chart,
        id: evil,
        root: { ...chart.root, key: evil },
        edges: chart.edges.map((edge) => ({ ...edge, event: evil, guard: evil, condition: evil })),
      }),
      { lit: [evil] },
    );
    expect(svg).to.not.include('<script').and.not.include('\u0000');
    expect(unbalanced(svg)).to.deep.equal([]);
  });
});

function nested() {
  const made = setup({
    guards: { ready: () => true, calm: () => true },
    actions: { sing: () => undefined },
    actors: { 'work-hand': effect<null, null>() },
  });
  return made.createMachine({
    id: 'nested',
    initial: 'outer',
    on: { 'stop.all': '.over', look: {} },
    states: {
      outer: {
        type: 'parallel',
        on: { leave: 'over', turn: '.left.b' },
        states: {
          left: {
            initial: 'a',
            states: {
              a: { entry: 'sing', on: { go: 'b' }, after: { 1500: { guard: not('ready'), target: 'b' } } },
              b: {
                invoke: {
                  id: 'work',
                  src: 'work-hand',
                  input: null,
                  onDone: 'a',
                  onError: { target: 'a', guard: and(['ready', 'calm']) },
                },
                on: { again: { target: 'b', reenter: true }, jump: '#nested.over' },
              },
            },
          },
          right: { initial: 'c', states: { c: { on: { go: 'd' } }, d: { type: 'final' } } },
        },
      },
      over: { type: 'final' },
    },
  });
}

/** Arrows over borders in every way: in, out, from one inside to another, to the border, to history. */
function crossing() {
  const made = setup({
    guards: { allowed: (_asked, _params: { region: string; age: number }) => true },
    actions: {
      writeTheReceipt: () => undefined,
      tellTheWarehouse: () => undefined,
      thankTheCustomer: () => undefined,
    },
    actors: { pay: effect<null, null>() },
  });
  return made.createMachine({
    id: 'crossing',
    initial: 'method',
    on: { reset: '.method.card' },
    states: {
      method: {
        initial: 'cash',
        states: {
          cash: { on: { switch: 'card', skip: '#crossing.paid.late' } },
          card: { on: { switch: 'cash', pay: '#crossing.paying' } },
          chosen: { type: 'final' },
          last: { type: 'history' },
        },
        on: { cancel: 'gone', theCustomerHasPaidAllOfTheOrderOnceMoreInCoins: 'gone' },
        onDone: 'paying',
      },
      paying: {
        invoke: { src: 'pay', input: null, onDone: 'paid', onError: 'method.last' },
        on: {
          checkout: {
            guard: { type: 'allowed', params: { region: 'the European Union', age: 18 } },
            target: 'paid.now',
          },
        },
      },
      paid: {
        initial: 'now',
        entry: ['writeTheReceipt', 'tellTheWarehouse', 'thankTheCustomer'],
        states: { now: { on: { next: 'late' } }, late: { on: { back: '#crossing.method' } } },
      },
      gone: { type: 'final' },
    },
  });
}

/** The lines of the label that begins so. */
const linesOfLabel = (svg: string, first: string): readonly string[] =>
  [
    ...(new RegExp(`<text class="label"[^>]*>(<tspan[^>]*>${first}<.*)`).exec(svg)?.[1] ?? '').matchAll(
      /<tspan[^>]*>([^<]*)</g,
    ),
  ].map(([, line]) => line as string);

/** Inside of the box itself: an arrow that runs on into it. */
const insideOf = (path: string, { x, y }: Point, { boxes }: Drawing): boolean =>
  boxes.some(
    (box) =>
      box.path === path &&
      box.shape !== 'any' &&
      x > box.x + 2 &&
      x < box.x + box.width - 2 &&
      y > box.y + 2 &&
      y < box.y + box.height - 2,
  );

const pathsOf = (state: ChartState): string[] => [state.path, ...state.states.flatMap(pathsOf)];
const isAround = (outer: Box, inner: Box): boolean =>
  outer.shape !== 'any' &&
  outer !== inner &&
  (outer.path === '' ||
    inner.path.startsWith(`${outer.path}.`) ||
    (inner.shape === 'any' && inner.path === outer.path));
const contains = (outer: Box, inner: Box): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width + 0.01 &&
  inner.y + inner.height <= outer.y + outer.height + 0.01;

function overlaps({ boxes }: Drawing): string[] {
  return boxes.flatMap((one, n) =>
    boxes.slice(n + 1).flatMap((other) => {
      const apart =
        one.x + one.width <= other.x ||
        other.x + other.width <= one.x ||
        one.y + one.height <= other.y ||
        other.y + other.height <= one.y;
      return apart || isAround(one, other) || isAround(other, one) ? [] : [`${one.path} and ${other.path}`];
    }),
  );
}

/** Tags that are not closed, or not opened, in the order in which they are met. */
function unbalanced(svg: string): string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [, close, name, self] of svg.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g)) {
    if (close === '/') {
      if (open.pop() !== name) wrong.push(`/${name}`);
    } else if (self !== '/') open.push(name ?? '');
  }
  return [...wrong, ...open];
}
