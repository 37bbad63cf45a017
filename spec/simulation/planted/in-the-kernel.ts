import type { Planted } from './planted.js';

export const plantedInTheKernel: readonly Planted[] = [
  {
    name: 'early-timeout',
    what: 'F2: a timeout that comes early is not armed again',
    edits: [
      {
        from: `            if (cell.resumeAt > this.environment.clock.monotonic())
                return this.arm(cell);
            cell.resumeAt = 0;
            this.pump(cell);`,
        to: `            this.pump(cell);`,
      },
      {
        from: `                if (cell.resumeAt > this.environment.clock.monotonic())
                    return this.arm(cell);`,
        to: `                if (cell.resumeAt > this.environment.clock.monotonic())
                    return;`,
      },
      { from: 'this.nudge(cell)', to: 'void cell' },
    ],
  },
  {
    name: 'held-turns',
    what: 'F7: a plan that throws keeps the turns of its actors',
    edits: [{ from: 'if (!committing)', to: 'if (false)' }],
  },
  {
    name: 'unknown-kind',
    what: 'F10: a row of a kind that is not known ends every start',
    edits: [
      {
        from: 'unknown.set(name, (unknown.get(name) ?? 0) + 1);',
        to: 'throw new TypeError(`unknown kind "${name}"`);',
      },
    ],
  },
  {
    name: 'endless-always',
    what: 'F11: microsteps without bound',
    edits: [
      {
        from: 'machine.options.maxIterations = microstepsMax;\n}',
        to: 'machine.options.maxIterations = Infinity;\n}',
      },
    ],
  },
  {
    name: 'deaf-when-stopped',
    what: 'F21: who asks after the stop is never answered',
    edits: [
      {
        from: `            job.fail(this.closed);
            return true;`,
        to: `            return true;`,
      },
    ],
  },
  {
    name: 'unchecked-ids',
    what: 'F21: ids made in plans are not checked',
    edits: [
      {
        from: ": refuse('BAD_REQUEST', { id },",
        to: ": true ? undefined : refuse('BAD_REQUEST', { id },",
      },
    ],
  },
  {
    name: 'same-due',
    what: 'F8: a timer armed again with the same due time loses its row',
    edits: [
      {
        from: `        this.dropTimer(timerId);
        setOwn(this.timers, timerId, timer);`,
        to: `        this.ops.push([keys.timer(timer.due, kind.kind, id, timerId), '1']);
        this.dropTimer(timerId);
        setOwn(this.timers, timerId, timer);`,
      },
      {
        from: `        this.armed.push({ id: timerId, timer });
        this.ops.push([keys.timer(timer.due, kind.kind, id, timerId), '1']);`,
        to: `        this.armed.push({ id: timerId, timer });`,
      },
    ],
  },
  {
    name: 'counter-twice',
    what: 'F15: the row of a counter is made before the commit is under way',
    edits: [
      {
        from: `        return this.sequences.of(counter).next();`,
        to: `        const number = this.sequences.of(counter).next();
        this.draft.ops.push(this.sequences.of(counter).op());
        return number;`,
      },
      { from: 'draft.ops.push(...turns.counterRows());', to: '' },
    ],
  },
  {
    name: 'wall-retention',
    what: 'F4: what expires is judged by the wall clock',
    edits: [
      {
        from: 'return this.at + Math.max(0, Math.floor(this.machine().ms - this.sinceBoot));',
        to: 'return this.environment.clock.now();',
      },
    ],
  },
  {
    name: 'unlisted',
    what: 'F18: actors that sleep are not listed anew for a new version',
    edits: [
      {
        from: 'return [...this.all].filter(([, { done }]) => !done)',
        to: 'return [].filter(([, { done }]) => !done)',
      },
    ],
  },
  {
    name: 'in-place',
    what: 'F14: a context that is changed in place is not noticed',
    edits: [{ from: "process.env['NODE_ENV'] !== 'production'", to: 'false' }],
  },
  {
    name: 'unreadable-context',
    what: 'F3: what could not be read back is stored',
    edits: [
      { from: 'const stored = storable(value);', to: 'const stored = value;' },
      {
        from: 'const lost = differenceAt(stored, decode(JSON.parse(text)));',
        to: 'const lost = undefined;',
      },
    ],
  },
  {
    name: 'successor',
    what: 'found here: a sleeping cell takes its successor with it',
    edits: [{ from: ' && this.cells.get(cell.key) === cell', to: '' }],
  },
  {
    name: 'left-row',
    what: 'found here: the row of a fenced effect that was left stays when the store could not write',
    edits: [
      {
        from: 'if (!(error instanceof StoreError) || this.kernel.cells.isClosed)',
        to: 'if (true)',
      },
    ],
  },
  {
    name: 'lost-wake',
    what: 'of several watchers who wait, only the first is woken',
    edits: [
      {
        from: `            for (const wake of [...this.waiters])
                wake();
        }
        for (const tap`,
        to: `            for (const wake of [...this.waiters].slice(0, 1))
                wake();
        }
        for (const tap`,
      },
    ],
  },
  {
    name: 'totals-kept',
    what: 'totals of a write that failed are not taken back',
    edits: [{ from: 'this.sealed.set(key, sealed - change);', to: ';' }],
  },
  {
    name: 'tail-uncounted',
    what: 'a start leaves out the totals that the last entries carry',
    edits: [{ from: 'if (totals.size === 0)', to: 'if (totals.size >= 0)' }],
  },
  {
    name: 'totals-behind',
    what: 'an actor is forgotten, and its totals are neither in a row nor in an entry',
    edits: [{ from: 'return !allHaveEntries && (', to: 'return false && (' }],
  },
  {
    name: 'fence-ignored',
    what: 'a fenced effect that may have acted is run again',
    edits: [
      {
        from: "note !== undefined && effect.guarantee === 'at-most-once'\n",
        to: 'false\n',
      },
    ],
  },
  {
    name: 'no-key-row',
    what: 'the row of an idempotency key is not written',
    edits: [{ from: 'draft.ops.push(...delivery.extra);', to: ';' }],
  },
  {
    name: 'timers-skipped',
    what: 'timers are not read again after a read that failed',
    edits: [{ from: "this.readTo('');", to: '' }],
  },
  {
    name: 'no-rewind',
    what: 'after a failed write the committer goes on from a position that is void',
    edits: [
      {
        from: `        ({ seq: this.seq, chain: this.chain } = this.kernel.store.head);
        this.broken = undefined;`,
        to: `        this.broken = undefined;`,
      },
    ],
  },
  {
    name: 'ghosts-in-lists',
    what: 'an actor that is forgotten stays in its lists',
    edits: [{ from: 'listRows(kind, id, state, undefined, this.ops);', to: '' }],
  },
  {
    name: 'slow-retention',
    what: 'F9: retention drops one entry per turn, however fast they come',
    edits: [
      {
        from: `while (this.kernel.log.floor < target && !stopped())
                await this.drop(target);`,
        to: 'if (!stopped()) return this.drop(Math.min(target, this.kernel.log.floor + 1));',
      },
    ],
  },
  {
    name: 'plan-holds',
    what: 'F12: a plan holds the turns of healthy actors while one of its own rests after a failure',
    edits: [
      {
        from: `            this.goBack(resting);
            return false;`,
        to: '            return true;',
      },
    ],
  },
  {
    name: 'letters-backwards',
    what: 'F19: dead letters are listed oldest first',
    edits: [
      {
        from: `reverse: true,
            limit: Math.max(0, Math.min(limit, 1_000)),`,
        to: 'limit: Math.max(0, Math.min(limit, 1_000)),',
      },
    ],
  },
  {
    name: 'inherited-names',
    what: 'F20: a member named as what every object inherits halts its actor',
    edits: [
      { from: 'const refused = /^(?:__proto__|constructor|prototype)$/;', to: 'const refused = /^$/;' },
    ],
  },
  {
    name: 'message-twice',
    what: 'messages are not taken from the inbox when they are used',
    edits: [{ from: 'consume: [[key, null]],', to: 'consume: [],' }],
  },
  {
    name: 'void-acknowledged',
    what: 'what was decided on a failed group is acknowledged where the group before it is answered later',
    world: 'fleet',
    edits: [{ from: 'this.rewind(this.broken.error)', to: 'this.rewind(error)' }],
  },
];
