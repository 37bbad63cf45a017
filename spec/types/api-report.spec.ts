import { expect } from 'chai';
import { apiReport, apiReportFile } from '../docs/api-report.js';
import { textOf } from '../docs/samples.js';

/** Every change of the public face is a change of this file, and so a line that a reviewer sees. */
describe('the report of the public face', () => {
  it('is that of the declarations: npm run docs', async () => {
    expect(await apiReport(), 'run `npm run docs`').to.equal(textOf(apiReportFile));
  });

  // Its sentence is all that the reference and an editor show of it
  it('has a sentence for everything that is exported, but for what is made of the OpenAPI document', async () => {
    const bare = (await apiReport()).matchAll(/\(undocumented\)\nexport (?:\w+ )+?(\w+)\b(?= |<|:|\()/g);
    expect([...bare].map(([, name]) => name)).to.deep.equal(['components', 'paths']);
  });
});
