import { expect } from 'chai';
import { readGuide, topics } from '../../../lib/docs/guides.js';
import { textOfGuide } from '../../../lib/docs/terminal.js';
import { Troupe } from './troupe.js';

describe('troupe help', () => {
  let troupe: Troupe;
  before(async () => {
    troupe = await Troupe.create();
  });
  after(() => troupe.clear());

  it('lists the commands and the guides', async () => {
    const { code, out } = await troupe.run('help');
    expect(code).to.equal(0);
    expect(out).to.match(
      /Usage: troupe[^]*\n {2}start [^]*Guides[^]*\n {2}getting-started {2}\S[^]*Exit codes/,
    );
    expect((await troupe.run('--help')).out).to.equal(out);
  });

  it('shows a guide, the usage of a command, and of a command of a command', async () => {
    expect((await troupe.run('help', 'effects')).out).to.match(/^EFFECTS\n[^]*at-most-once/);
    expect((await troupe.run('help', 'run')).out).to.match(/^Usage: troupe run /);
    expect((await troupe.run('help', 'config', 'check')).out).to.match(/^Usage: troupe config check /);
  });

  it('says what could have been meant', async () => {
    const { code, out, err } = await troupe.run('help', 'efects');
    expect({ code, out }).to.deep.equal({ code: 2, out: '' });
    expect(err).to.equal('No guide or command "efects". Did you mean effects? "troupe help" lists them.\n');
  });

  it('fits every guide into a terminal: no marks of Markdown, no long lines but those of code', async () => {
    for (const topic of topics) {
      const guide = readGuide(topic);
      const text = guide === undefined ? '' : await textOfGuide(guide);
      expect(text, topic).to.not.match(/^```|^\||\]\([a-z]|&(?:lt|gt|quot|amp|#39);|<!--/m);
      // What cannot be broken (an address, a long word) and code stay as they are.
      const long = text.split('\n').filter((line) => line.length > 110 && !/^ {4}|\S{60}/.test(line));
      expect(long, topic).to.deep.equal([]);
    }
  });
});
