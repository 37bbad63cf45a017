import { expect } from 'chai';
import { createClient, isRefusal, type Client } from '../../../lib/client/index.js';
import { operatorToken as token } from '../gateway/fixture.js';
import { openOffice, type Office } from '../records/office.js';
import { cuttingProxy, type CuttingProxy } from './cutting-proxy.js';

/** What is no JSON had to be asked for by hand, without the client's refusals, keys and repeats. */
describe('files of troupe/client', () => {
  let office: Office;
  let proxy: CuttingProxy;
  let client: Client;
  beforeEach(async () => {
    office = await openOffice();
    proxy = await cuttingProxy(office.port);
    client = createClient({ url: proxy.url, token });
  });
  afterEach(async () => {
    await proxy.close();
    await office.close();
  });

  it('go up and come down byte for byte, whatever they are called', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, n) => n % 251);
    const kept = await client.files.upload(new File([bytes], 'räksmörgås (1).bin'));
    if (isRefusal(kept)) throw new Error(kept.message);
    expect(kept).to.include({ filename: 'räksmörgås (1).bin', size: bytes.length });
    const back = await client.files.download(kept.id);
    if (isRefusal(back)) throw new Error(back.message);
    expect(Buffer.compare(Buffer.from(await back.arrayBuffer()), bytes)).to.equal(0);
  });

  it('are kept once where the answer was lost', async () => {
    proxy.cutAfter(1);
    const kept = await client.files.upload(new Blob(['a,b']), 'a.csv');
    if (isRefusal(kept)) throw new Error(kept.message);
    expect(kept.filename).to.equal('a.csv');
    const all = await client.get('/api/files');
    expect(Array.isArray(all) && all.length).to.equal(1);
    expect(proxy.connections).to.be.greaterThan(1);
  });

  it('answer a refusal as a value', async () => {
    const answer = await client.files.download('00000000-0000-0000-0000-000000000000');
    expect(answer).to.include({ refused: true, code: 'NOT_FOUND' });
  });
});
