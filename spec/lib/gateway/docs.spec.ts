import { expect } from 'chai';
import { topics } from '../../../lib/docs/guides.js';
import { pageOfGuide } from '../../../lib/docs/page.js';
import { openHouse, type House } from './fixture.js';

describe('GET /docs', () => {
  let house: House;
  before(async () => {
    house = await openHouse();
  });
  after(() => house.close());

  it('lists every guide for every caller, under the policy of the page', async () => {
    const inspector = await house.client().get('/inspect/none');
    expect(inspector.status).to.equal(404);
    const { status, headers, text } = await house.client().get('/docs');
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('text/html; charset=utf-8');
    const policy = String(headers['content-security-policy']);
    expect(policy).to.include("default-src 'none'").and.include("trusted-types 'none'");
    expect(policy).to.not.include('unsafe').and.not.include('*').and.not.include('http');
    for (const topic of topics) expect(text).to.include(`href="/docs/${topic}"`);
    expect((await house.client({ authorization: 'Bearer wrong' }).get('/docs')).status).to.equal(200);
  });

  it('shows each guide without script, style or anything from elsewhere, and its links lead somewhere', async () => {
    for (const topic of topics) {
      const { status, text } = await house.client().get(`/docs/${topic}`);
      expect(status, topic).to.equal(200);
      expect(text, topic).to.not.match(/<script|<style|<img|<iframe|\son\w+=|style=|javascript:/i);
      for (const [, address = ''] of text.matchAll(/(?:src|href)="([^"]*)"/g)) {
        if (/^(?:https:|#)/.test(address)) continue;
        const [path = ''] = address.split('#');
        expect((await house.client().get(path)).status, `${topic} → ${address}`).to.equal(200);
      }
    }
  });

  it('finds nothing beside the guides, and takes no other method', async () => {
    for (const name of [
      'nonsense',
      'guides.ts',
      '..%2fguides.ts',
      '%2e%2e%2f%2e%2e%2fREADME.md',
      'effects.md',
    ])
      expect((await house.client().get(`/docs/${name}`)).status, name).to.equal(404);
    expect((await house.client().post('/docs')).status).to.equal(405);
    expect((await house.client().get('/docs/style.css')).headers['content-type']).to.equal(
      'text/css; charset=utf-8',
    );
  });

  it('escapes what a guide could carry: markup, images, and links to other schemes or hosts', async () => {
    const text = [
      '# <b>Odd</b> & "end"',
      'A <script>alert(1)</script> and <img src=x onerror=alert(1)>.',
      '<iframe src="//evil.example"></iframe>',
      '![x" onerror="alert(1)](https://evil.example/x.png)',
      '[a](javascript:alert(1)) [b](data:text/html,x) [c](//evil.example) [d](http://evil.example)',
      '[e](https://ok.example/x"onmouseover="alert(1)) [f](effects.md#when-the-process-dies) <https://ok.example/y>',
      '`<b>` and',
      '```js"><script>\n</code><script>alert(1)</script>\n```',
      '| <i>a</i> |\n|---|\n| <u>b</u> |',
    ].join('\n\n');
    const html = await pageOfGuide({ name: 'odd', title: '<i>Odd</i>', about: '', text });
    const content = html.slice(html.indexOf('<main>'));
    expect(html).to.include('<title>&lt;i&gt;Odd');
    const tags = new Set([...content.matchAll(/<([a-z]+\d?)/g)].map(([, tag = '']) => tag));
    expect([...tags].sort()).to.deep.equal(
      ['a', 'code', 'div', 'h1', 'main', 'p', 'pre', 'table', 'tbody', 'td', 'th', 'thead', 'tr'].sort(),
    );
    const attributes = [...content.matchAll(/<[a-z]+\d? ([^>]*)>/g)].map(([, found]) => found);
    expect(attributes).to.deep.equal([
      'id="boddb--end"',
      'href="/docs/effects#when-the-process-dies"',
      'href="https://ok.example/y"',
      'tabindex="0"',
      'class="table" tabindex="0"',
    ]);
  });
});
