import { expect } from 'chai';
import { fresh, fires, morning, run, type Job } from './beings.js';

const hourMs = 3_600_000;
const ids = (job: Job): readonly string[] =>
  fires(job).map(({ id, missed }) => `${id}${missed === null ? '' : ' missed'}`);
/** The wall clock jumps; waits do not notice, except that the alarm rings when the steady clock says so. */
const ring = (job: Job, at: number): void => {
  job.at = at;
  job.timers.delete('due');
  job.step({ type: 'job.due', at, by: { type: 'system', part: 'timers' } } as { type: string });
};

describe('a cron job', () => {
  it('fires at every instant, once, under the name of the instant', () => {
    const job = fresh();
    job.advance(49 * hourMs);
    expect(ids(job)).to.deep.equal([
      'cron:daily:2026-06-01T09:00:00.000Z',
      'cron:daily:2026-06-02T09:00:00.000Z',
      'cron:daily:2026-06-03T09:00:00.000Z',
    ]);
    expect(job.snapshot.context).to.deep.include({
      fires: 3,
      missedFires: 0,
      nextAt: Date.UTC(2026, 5, 4, 9),
    });
  });

  it('remembers a run only until it has ended', () => {
    const job = fresh();
    job.advance(hourMs);
    const [id = ''] = job.snapshot.context.active;
    job.finish(id, run());
    expect(job.snapshot.context.active).to.deep.equal([]);
    expect(job.snapshot.context.lastRun).to.deep.equal(run());
    expect(
      Object.keys((job.snapshot as { children: object }).children),
      'children that XState still holds',
    ).to.deep.equal([]);
  });

  it('does not fire while it is disabled, and begins at the next instant when it is enabled', () => {
    const job = fresh({ enabled: false });
    job.advance(48 * hourMs);
    expect(ids(job)).to.deep.equal([]);
    job.send({ type: 'job.edit', patch: { enabled: true }, zone: 'UTC' });
    job.advance(24 * hourMs);
    expect(ids(job))
      .to.deep.equal(
        ['cron:daily:2026-06-03T09:00:00.000Z', 'cron:daily:2026-06-04T09:00:00.000Z'].slice(
          0,
          ids(job).length,
        ),
      )
      .and.have.lengthOf(1);
  });

  it('keeps its own timezone when someone changes something else, whatever they had read', () => {
    // the command once told the zone of the job as it had read it: two edits at once, and the job rang in the
    // old one
    const job = fresh();
    job.send({ type: 'job.edit', patch: { timezone: 'Asia/Tokyo' }, zone: 'UTC' });
    job.send({ type: 'job.edit', patch: { name: 'Digest' }, zone: 'UTC' });
    expect([job.snapshot.context.zone, job.snapshot.context.nextAt]).to.deep.equal([
      'Asia/Tokyo',
      Date.UTC(2026, 5, 2),
    ]);
    job.send({ type: 'job.edit', patch: { timezone: null }, zone: 'UTC' });
    expect([job.snapshot.context.zone, job.snapshot.context.nextAt]).to.deep.equal([
      'UTC',
      Date.UTC(2026, 5, 1, 9),
    ]);
  });

  it('fires by hand at any time, also twice in one millisecond', () => {
    const job = fresh({ enabled: false });
    job.send({ type: 'job.trigger' });
    job.send({ type: 'job.trigger' });
    expect(new Set(ids(job)).size).to.equal(2);
    expect(fires(job).every(({ why }) => why === 'trigger')).to.equal(true);
  });

  it('has at most ten runs at once; a further one is on record as missed', () => {
    const job = fresh({ schedule: '* * * * *' });
    job.advance(12 * 60_000);
    expect(fires(job).filter(({ missed }) => missed === null)).to.have.lengthOf(10);
    expect(fires(job).filter(({ missed }) => missed !== null)).to.have.lengthOf(2);
    expect(job.send({ type: 'job.trigger' })?.code).to.equal('QUEUE_FULL');
  });

  describe('after an absence', () => {
    const away = (missed: string): Job => {
      const job = fresh({ missed });
      ring(job, Date.UTC(2026, 5, 4, 12));
      return job;
    };
    const days = ['2026-06-01', '2026-06-02', '2026-06-03', '2026-06-04'].map(
      (day) => `cron:daily:${day}T09:00:00.000Z`,
    );

    it('that it skips puts what it missed on record', () => {
      expect(ids(away('skip'))).to.deep.equal(days.map((id) => `${id} missed`));
      expect(away('skip').snapshot.context.missedFires).to.equal(4);
    });

    it('that it catches up once runs for the last instant only', () => {
      expect(ids(away('once'))).to.deep.equal([...days.slice(0, 3).map((id) => `${id} missed`), days[3]]);
    });

    it('that it catches up whole runs for every instant', () => {
      expect(ids(away('all'))).to.deep.equal(days);
      expect(fires(away('all')).every(({ why }) => why === 'caught-up')).to.equal(true);
    });

    it('of years does not count every minute, and keeps the newest', () => {
      const job = fresh({ schedule: '* * * * *', missed: 'once' });
      ring(job, Date.UTC(2031, 0, 1, 0, 0, 5));
      expect(ids(job).length).to.be.at.most(60);
      expect(ids(job).at(-1)).to.equal('cron:daily:2031-01-01T00:00:00.000Z');
      expect(job.snapshot.context.nextAt).to.equal(Date.UTC(2031, 0, 1, 0, 1));
      // every minute since it was written down, but for the one that runs: it once told a few dozen
      expect(job.snapshot.context.missedFires).to.equal(
        (Date.UTC(2031, 0, 1) - Date.UTC(2026, 5, 1, 8)) / 60_000 - 1,
      );
    });
  });

  it('that was written down before stretches were kept goes on', () => {
    const job = fresh();
    const { ran: _ran, setBacks: _setBacks, knownUntil: _knownUntil, ...context } = job.snapshot.context;
    Object.assign(job.snapshot, { context });
    job.advance(25 * hourMs);
    expect(ids(job)).to.deep.equal([
      'cron:daily:2026-06-01T09:00:00.000Z',
      'cron:daily:2026-06-02T09:00:00.000Z',
    ]);
    ring(job, morning - hourMs);
    expect(job.snapshot.context.nextAt).to.equal(Date.UTC(2026, 5, 3, 9));
  });

  it('waits on when the alarm rings too early because the clock was set back', () => {
    const job = fresh();
    ring(job, morning - 2 * hourMs);
    expect(ids(job)).to.deep.equal([]);
    expect(job.timers.get('due')?.due).to.equal(Date.UTC(2026, 5, 1, 9));
  });

  it('is changed by people, or by the gateway where it follows a workflow, and never by agents', () => {
    const agent = { type: 'session', id: 's', employee: 'ann', ancestors: [] } as const;
    const edit = { type: 'job.edit', patch: { name: 'Mine' }, zone: 'UTC' };
    for (const event of [edit, { type: 'job.delete' }, { type: 'job.trigger' }])
      expect(fresh().send({ ...event, by: agent })?.code, event.type).to.equal('FORBIDDEN');
    const managed = fresh({ managedBy: 'workflow', workflowId: 'w1' });
    expect(managed.send(edit)?.code).to.equal('CONFLICT');
    expect(managed.send({ type: 'job.delete' })?.code).to.equal('CONFLICT');
    expect(managed.send({ ...edit, by: { type: 'system', part: 'workflows' } })).to.equal(undefined);
    expect(fresh().send({ type: 'job.due' })?.code).to.equal('UNKNOWN_EVENT');
    for (const patch of [{ prompt: ' ' }, { schedule: 'soon' }, { name: 'x'.repeat(300) }])
      expect(fresh().send({ ...edit, patch })?.code, JSON.stringify(patch)).to.equal('BAD_REQUEST');
  });

  it('gives its name away when it is deleted, and what was fired stays fired', () => {
    const job = fresh();
    job.advance(hourMs);
    job.send({ type: 'job.delete' });
    job.advance(48 * hourMs);
    expect(ids(job)).to.have.lengthOf(1);
    const {
      name,
      enabled,
      schedule,
      timezone,
      engine,
      model,
      effortLevel,
      employee,
      prompt,
      delivery,
      missed,
    } = job.snapshot.context;
    job.at = morning; // and someone set the clock back
    job.send({
      type: 'job.revive',
      job: {
        name,
        enabled,
        schedule,
        timezone,
        engine,
        model,
        effortLevel,
        employee,
        prompt,
        delivery,
        missed,
      },
      zone: 'UTC',
      managedBy: null,
      workflowId: null,
    });
    expect(job.value).to.equal('scheduled');
    expect(job.snapshot.context.nextAt).to.equal(Date.UTC(2026, 5, 2, 9));
  });
});
