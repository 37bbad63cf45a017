import { expect } from 'chai';
import { ago, bytes, localTime, plainText, table, timeOfDay, visible } from '../../../lib/cli/print.js';

describe('what the command line prints', () => {
  it('aligns columns, cuts long cells and keeps a row on its line', () => {
    expect(
      table(
        ['ID', 'TITLE'],
        [
          ['a', 'x\ny'],
          ['bbb', 'z'.repeat(70)],
        ],
        'none',
      ),
    ).to.equal(`ID   TITLE\na    x y\nbbb  ${'z'.repeat(59)}…`);
    expect(table(['ID'], [], 'Nothing yet.')).to.equal('Nothing yet.');
  });

  it('takes away what would steer a terminal or turn text around, and nothing else', () => {
    expect(plainText('a\u001b[2Jb\u0007\u009bc\u202ed')).to.equal('a[2Jbcd');
    expect(plainText('zwei\n\tZeilen – 你好 🙂', { keepLines: true })).to.equal('zwei\n\tZeilen – 你好 🙂');
    expect(plainText('one\r\ntwo', { keepLines: true })).to.equal('one\ntwo');
  });

  // `--json` passed on what is no control character to JSON and is one to a terminal
  it('writes out what JSON leaves as it is and a terminal obeys', () => {
    const said = { title: 'a\u009b2Jb\u202ec\u2066d\u007f', plain: 'zwei – 你好 🙂 \\' };
    const shown = visible(JSON.stringify(said));
    expect(shown).to.contain('a\\u009b2Jb\\u202ec\\u2066d\\u007f').and.to.contain('zwei – 你好 🙂');
    expect(JSON.parse(shown)).to.deep.equal(said);
    expect(visible('\u001b[1mbold\u001b[22m')).to.equal('\u001b[1mbold\u001b[22m');
  });

  it('says a time by the zone that is named, over the change to summer time and at midnight', () => {
    const at = Date.parse('2026-03-29T00:30:00.007Z');
    expect(localTime(at, 'Europe/Berlin')).to.equal('2026-03-29 01:30:00 +01:00');
    expect(localTime(at + 3_600_000, 'Europe/Berlin')).to.equal('2026-03-29 03:30:00 +02:00');
    expect(localTime('2026-03-29T00:30:00Z', 'Asia/Kathmandu')).to.equal('2026-03-29 06:15:00 +05:45');
    expect(localTime('2026-11-23T05:00:00Z', 'America/New_York')).to.equal('2026-11-23 00:00:00 -05:00');
    expect(localTime(at, 'UTC')).to.equal('2026-03-29 00:30:00 +00:00');
    expect(timeOfDay(at, 'Europe/Berlin')).to.equal('01:30:00.007');
  });

  it('says times and sizes in one unit', () => {
    expect([0, 59_499, 60_000, 3_600_000, 172_799_000, 172_800_000].map((age) => ago(0, age))).to.deep.equal([
      '0 s',
      '59 s',
      '1 min',
      '1 h',
      '47 h',
      '2 d',
    ]);
    expect(ago(1_000, 0), 'a clock that was set back').to.equal('0 s');
    expect([0, 999, 1_500, 200_000_000, 4.2e12].map(bytes)).to.deep.equal([
      '0 B',
      '999 B',
      '1.5 kB',
      '200 MB',
      '4.2 TB',
    ]);
  });
});
