import { expect } from 'chai';
import { ago, bytes, plainText, table } from '../../../lib/cli/print.js';

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
