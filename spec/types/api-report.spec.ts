import { expect } from 'chai';
import { apiReference, apiReport, apiReportFile, bareMembers } from '../docs/api-report.js';
import { textOf } from '../docs/samples.js';

/** Every change of the public face is a change of this file, and so a line that a reviewer sees. */
describe('the report of the public face', () => {
  it('is that of the declarations: npm run docs', async () => {
    expect(await apiReport(), 'run `npm run docs`').to.equal(textOf(apiReportFile));
  });

  // Its sentence is all that the reference and an editor show of it: a name says neither unit nor bound
  it('has a sentence for everything that is exported and each of its members, but for what OpenAPI makes', async () => {
    const bare = (await apiReport()).split(/^## /m).flatMap((section) => {
      const [entry = ''] = section.split('\n');
      return [...section.matchAll(/^ *\/\/ (?:@\w+ )?\(undocumented\)\n(.*)/gm)].map(
        ([, line = '']) => `${entry}: ${line.trim()}`,
      );
    });
    expect(bare).to.deep.equal([
      'troupe/client: export interface components { … }',
      'troupe/client: export interface paths { … }',
    ]);
  });

  // Parts of unions, parameters and answers: an extractor looks no deeper than the members of interfaces
  it('has a sentence for what stands within a declaration, or names it in the sentence of the whole', async () => {
    const bare = Object.values(await bareMembers()).flat();
    expect(bare.filter((path) => !/^(?:components|paths)\b/.test(path))).to.deep.equal([]);
    expect(bare, 'what OpenAPI makes is seen').to.include('components.schemas.Comment.text');
  });

  // A reader of an editor's hint has nothing else: a value without an example is read in our code, or guessed
  it('has an example for every value, and says of every function how it fails', async () => {
    const items = (await apiReference()).split(/^### /m).slice(1);
    expect(items.length).to.be.greaterThan(300);
    const values = items.filter((item) => !/^```text\n(?:type|interface) /m.test(item));
    expect(values.length).to.be.greaterThan(90);
    expect(values.filter((item) => !item.includes('\nExample:\n')).map(nameOf)).to.deep.equal([]);
    const functions = values.filter((item) => /^```text\nfunction /m.test(item));
    expect(functions.length).to.be.greaterThan(60);
    expect(functions.filter((item) => !/throw|reject|refus/i.test(aboutOf(item))).map(nameOf)).to.deep.equal(
      [],
    );
  });
});

const nameOf = (item: string): string => item.slice(0, item.indexOf('\n'));
/** What stands before the signature. */
const aboutOf = (item: string): string => item.slice(0, item.indexOf('```'));
