import { expect } from 'chai';
import { withoutSecrets } from '../../../../lib/commands/bundles/without-secrets.js';

describe('an export without keys', () => {
  const pem = (body: string): string =>
    `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----`;

  it('hides each key, also one whose end is missing before the next', () => {
    const { value, removed } = withoutSecrets({
      text: `a ${pem('MIIx')} b -----BEGIN PRIVATE KEY-----\nMIIy\n${pem('MIIz')} c`,
    });
    expect(value.text).to.equal('a [secret] b [secret][secret] c');
    expect(removed).to.equal(3);
  });

  // Each beginning was searched for its end through all that followed: a file of a megabyte took minutes
  it('takes as long as the text is, with however many beginnings', () => {
    const text = '-----BEGIN PRIVATE KEY-----\nx\n'.repeat(200_000);
    expect(withoutSecrets(text).value.length).to.be.lessThan(text.length);
  });
});
