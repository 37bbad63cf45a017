import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { redraw } from '../../../lib/cli/top.js';
import { topFrame, type TopData } from '../../../lib/cli/top-frame.js';
import type { ActorSummary } from '../../../lib/inspector/answers.js';

/** The picture of `troupe top`, and how it is drawn over itself until someone leaves. */
const actor = (id: string, parent: string | null, title: string | null = null): ActorSummary => ({
  kind: 'session',
  id,
  value: 'running',
  status: 'active',
  rev: 1,
  seq: 1,
  createdAt: 0,
  updatedAt: 0,
  since: 55_000,
  parent: parent === null ? null : { kind: 'session', id: parent },
  halted: null,
  reason: null,
  effects: ['engine-turn'],
  due: null,
  title,
});
const data: TopData = {
  title: 'Troupe default',
  rate: 12.34,
  waiting: 2,
  times: { timeOfDay: (at) => `at ${at}` },
  fleet: {
    seq: 9,
    at: 60_000,
    kinds: [{ kind: 'session', version: 1, total: 3, states: { idle: 1, running: 2 }, halted: 1 }],
    events: 9,
    commits: 9,
    restarts: 2,
    awake: 3,
    effects: 1,
    deadLetters: 1,
  },
  tree: {
    at: 60_000,
    root: {
      state: 'degraded',
      subsystems: [
        { name: 'store', failing: 'the disk\u001b[31m is full' },
        { name: 'disk', failing: null },
      ],
      reindexing: [],
      retentionHeldMs: 0,
    },
    kinds: [
      {
        kind: 'session',
        version: 1,
        total: 3,
        strategy: 'one_for_one',
        intensity: 5,
        periodSeconds: 60,
        restart: 'transient',
        backoffMs: 0,
        backoffMsMax: 0,
        giveUp: 'halt',
        restarts: 2,
        failing: [],
        halted: [{ id: 'h', at: 0, reason: 'It failed 6 times.' }],
      },
    ],
    circuits: [
      {
        type: 'engine',
        name: 'clerk',
        state: 'closed',
        status: 'works',
        reason: null,
        since: null,
        nextTry: null,
      },
      {
        type: 'connector',
        name: 'slack',
        state: 'open',
        status: 'failing',
        reason: 'x',
        since: 0,
        nextTry: null,
      },
    ],
  },
  busy: [actor('top', null, 'evil\u001b]0;title\u0007'), actor('below', 'top'), actor('alone', 'sleeping')],
  recent: [
    {
      seq: 9,
      tx: 9,
      last: true,
      at: 0,
      kind: 'session',
      id: 'top',
      rev: 2,
      version: 1,
      event: { type: 'turn.began' },
      from: 'running',
      to: 'running',
      effects: [],
      cause: null,
      by: 'operator',
    },
  ],
};

describe('the picture of troupe top', () => {
  it('shows what is degraded, rules, states, circuits, who works below whom and what happened, as wide as the terminal', () => {
    const lines = topFrame(data, { columns: 90, rows: 40, colour: false });
    const text = lines.join('\n');
    expect(text)
      .to.match(/degraded/)
      .and.match(/store: the disk\[31m is full/)
      .and.match(/12 events\/s/)
      .and.match(/running 2 {2}idle 1/);
    expect(text)
      .to.match(/halted session\/h for 1 min: It failed 6 times\./)
      .and.match(/● clerk {2}○ slack/)
      .and.match(/at 0 +9 session\/top turn\.began in running/);
    const at = (id: string): string => lines.find((line) => line.includes(`session/${id} `)) ?? '';
    expect([
      /^ {2}\S/.test(at('top')),
      /^ {4}\S/.test(at('below')),
      /^ {2}\S/.test(at('alone')),
    ]).to.deep.equal([true, true, true]);
    expect(text).to.not.match(/[\u0000-\u0009\u000b-\u001f]/);
    expect(lines.every((line) => line.length <= 90)).to.equal(true);
    expect(topFrame(data, { columns: 60, rows: 8, colour: false })).to.have.length(8);
  });

  it('is drawn on a screen of its own until q is pressed, and leaves the terminal as it was', async () => {
    const written: string[] = [];
    const modes: boolean[] = [];
    const input = Object.assign(new EventEmitter(), {
      isTTY: true,
      setRawMode: (on: boolean) => modes.push(on),
      resume() {
        return this;
      },
      pause: () => undefined,
    });
    const output = Object.assign(new EventEmitter(), { isTTY: true, columns: 80, rows: 24 });
    const terminal = {
      out: () => undefined,
      write: (text: string) => {
        written.push(text);
      },
      say: () => undefined,
      env: {},
    };
    let looks = 0;
    const drawing = redraw(
      async () => {
        looks += 1;
        if (looks === 3) input.emit('data', Buffer.from('q'));
        else setImmediate(() => output.emit('resize'));
        return data;
      },
      3_600_000,
      terminal,
      input as never,
      output as never,
    ); // the few members of a terminal that it uses
    await drawing;
    expect(looks).to.equal(3);
    expect(written[0]).to.equal('\u001b[?1049h\u001b[?25l');
    expect(written.at(-1)).to.equal('\u001b[?25h\u001b[?1049l');
    expect(written[1])
      .to.match(/^\u001b\[H/)
      .and.match(/\u001b\[J$/);
    expect(modes).to.deep.equal([true, false]);
  });
});
