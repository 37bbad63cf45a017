import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../../house/sources.js';
import { openHouse, type House } from './fixture.js';

describe('GET /metrics', () => {
  let house: House;
  before(async () => {
    house = await openHouse();
  });
  after(() => house.close());

  /** `{'troupe_actors{kind="session"}': 1, …}`; every line must be one that Prometheus reads. */
  async function scrape(): Promise<ReadonlyMap<string, number>> {
    const { status, text, headers } = await house.operator.get('/metrics');
    expect([status, headers['content-type']]).to.deep.equal([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    expect(text.endsWith('\n')).to.equal(true);
    const samples = new Map<string, number>();
    for (const line of text.trimEnd().split('\n')) {
      if (line.startsWith('#'))
        expect(line).to.match(/^# (?:HELP [a-z_]+ \S.*|TYPE [a-z_]+ (?:counter|gauge|histogram))$/);
      else {
        const [, series = '', value] =
          /^([a-z_]+(?:\{(?:[a-z]+="(?:[^"\\\n]|\\.)*",?)+\})?) (-?[\d.e+-]+)$/.exec(line) ?? [];
        expect(series, line).to.not.equal('');
        expect(samples.has(series), `${series} is told once`).to.equal(false);
        samples.set(series, Number(value));
      }
    }
    return samples;
  }

  it('counts what there is and what was done', async () => {
    const before = await scrape();
    await house.operator.post('/api/work-items', { title: 'water the plants' });
    await house.operator.get('/api/nowhere');
    const now = await scrape();
    const grew = (series: string) => (now.get(series) ?? 0) - (before.get(series) ?? 0);
    expect(grew('troupe_actors{kind="work-item"}')).to.equal(1);
    expect(grew('troupe_actors_in_state{kind="work-item",state="work.backlog"}')).to.equal(1);
    expect(grew('troupe_events_total')).to.be.greaterThan(0);
    expect(grew('troupe_log_position')).to.be.greaterThan(0);
    // The create, and the first look itself
    expect(grew('troupe_http_requests_total{status="2xx"}')).to.equal(2);
    expect(grew('troupe_http_requests_total{status="4xx"}')).to.equal(1);
    expect(grew('troupe_http_request_duration_seconds_count')).to.equal(3);
    expect(now.get('troupe_up')).to.equal(1);
    expect([
      now.get('troupe_engine_available{engine="pen"}'),
      now.get('troupe_engine_available{engine="ghost"}'),
    ]).to.deep.equal([1, 0]);
  });

  it('keeps its buckets in order: each counts those below it', async () => {
    const buckets = [...(await scrape())]
      .filter(([series]) => series.startsWith('troupe_http_request_duration_seconds_bucket'))
      .map(([, value]) => value);
    expect(buckets).to.have.lengthOf(8);
    expect(buckets).to.deep.equal([...buckets].sort((a, b) => a - b));
    expect(buckets.at(-1)).to.be.greaterThan(0);
  });

  it('is documented name by name, and the dashboard asks for nothing else', async () => {
    await house.operator.get('/api/status'); // an answer that was counted
    const { text } = await house.operator.get('/metrics');
    const shown = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
    // What has no sample in this home: nothing is reindexed, no backup was made, there is no connector
    const rare = [
      'troupe_reindexing_actors',
      'troupe_backup_made_timestamp_seconds',
      'troupe_connector_running',
    ];
    const all = new Set([...shown, ...rare]);
    const names = (from: string): Set<string> =>
      new Set(
        [...from.matchAll(/\b(?:troupe|process)_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, '')),
      );
    const guide = await readFile(join(root, 'lib/docs/watching.md'), 'utf8');
    expect([...names(guide)].sort()).to.deep.equal([...all].sort());
    const dashboard = await readFile(join(root, 'examples/deploy/grafana-dashboard.json'), 'utf8');
    const asked = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] };
    const wanted = names(asked.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n'));
    expect(wanted.size).to.be.greaterThan(15);
    expect([...wanted].filter((name) => !all.has(name))).to.deep.equal([]);
  });

  it('names no one and nothing that people wrote, and needs a credential', async () => {
    await house.operator.post('/api/work-items', { title: 'a secret title' });
    expect((await house.operator.get('/metrics')).text)
      .to.not.include('secret title')
      .and.not.include('TRP-');
    expect((await house.client().get('/metrics')).status).to.equal(401);
  });
});
