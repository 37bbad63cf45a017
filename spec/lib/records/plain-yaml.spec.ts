import { expect } from 'chai';
import { parsePlainYaml } from '../../../lib/records/plain-yaml.js';

/** YAML that comes from elsewhere. */
describe('plain YAML', () => {
  const fault = (text: string): unknown => {
    const parsed = parsePlainYaml(text, 4_000_000);
    return 'fault' in parsed ? parsed.fault : undefined;
  };

  // The parser itself would compare each key with all before it, and be busy with a bundle of 4 MB for minutes
  it('refuses a key that is there twice, wherever it is and however it is written', () => {
    const unique = 'it is not plain YAML (Map keys must be unique)';
    for (const text of ['a: 1\nb: 2\na: 3', 'x:\n  - a: 1\n    "a": 2', '{a: 1, a: 2}', '1: a\n0x1: b'])
      expect(fault(text), text).to.equal(unique);
    expect(fault('a: 1\nb: {a: 1}')).to.equal(undefined);
  });
});
