import { expect } from 'chai';
import fc from 'fast-check';
import { mimetypeOf, safeName } from '../../../../lib/records/files/names.js';

describe('safeName', () => {
  const cases: Record<string, string> = {
    'report.pdf': 'report.pdf',
    '../../etc/passwd': 'passwd',
    'C:\\temp\\a.txt': 'a.txt',
    '/': 'file',
    '': 'file',
    '..': 'file',
    '.env': 'env',
    '  a .txt. ': 'a .txt',
    'a\u0000b\n.txt': 'ab.txt',
    'inv\u202egpj.exe': 'invgpj.exe',
    'a<b>:"c".txt': 'a_b___c_.txt',
    '-rf': 'rf',
    'Grüße 🌱.md': 'Grüße 🌱.md',
  };
  for (const [given, safe] of Object.entries(cases))
    it(`makes ${JSON.stringify(safe)} of ${JSON.stringify(given)}`, () =>
      expect(safeName(given)).to.equal(safe));

  it('makes a short plain name of anything, and the same one again', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 400 }),
          fc.string({ unit: 'grapheme', maxLength: 400 }),
        ),
        (given) => {
          const name = safeName(given);
          expect(Buffer.byteLength(name)).to.be.within(1, 180);
          expect(name).not.to.match(/[/\\\u0000-\u001f]|^\.|^-/);
          expect(safeName(name)).to.equal(name);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('tells the type by the ending', () => {
    expect([
      mimetypeOf('a.PNG'),
      mimetypeOf('a.tar.gz'),
      mimetypeOf('a'),
      mimetypeOf('a.constructor'),
      mimetypeOf('.png'),
    ]).to.deep.equal([
      'image/png',
      'application/gzip',
      'application/octet-stream',
      'application/octet-stream',
      'image/png',
    ]);
  });
});
