import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openHouse, type House } from '../lib/gateway/fixture.js';
import { rulesOfColour, wrongWith } from './axe.js';
import { openBrowser, picture, until, type Viewer } from './browser.js';

/** Code in the console: in the colours of its language, and as text whatever it says. */
describe('code in the console', () => {
  let house: House;
  let viewer: Viewer;
  before(async () => {
    viewer = await openBrowser();
    house = await openHouse();
  });
  after(async () => {
    await viewer.close();
    await house.close();
  });

  const session = async (prompt: string): Promise<string> =>
    (await house.operator.post('/api/sessions', { prompt, title: 'Code' })).body.id as string;
  const fetchedBy = (page: Page): string[] => {
    const files: string[] = [];
    page.on('request', (request) => files.push(new URL(request.url()).pathname));
    return files;
  };
  const fence = (language: string, text: string): string => `\n\`\`\`${language}\n${text}\n\`\`\`\n`;
  const samples: readonly (readonly [language: string, text: string, piece: string, tone: string])[] = [
    ['ts', 'const a: string = `one ${1 + two} <b>`; // why', 'const', 'keyword'],
    ['js', "import { one } from 'two';", "'two'", 'string'],
    ['json', '{ "a": [1, true, "b"] }', '"a"', 'type'],
    ['python', 'def f(x):\n    """Why."""\n    return x + 1', 'def', 'keyword'],
    ['sh', 'for f in *; do echo "$f"; done # all', '# all', 'comment'],
    ['yaml', 'name: fish\nage: 3', 'name:', 'type'],
    ['html', '<p class="a">b</p><img src=x onerror="window.hit=1">', 'img', 'name'],
    ['css', '.fish { color: red; }', '.fish', 'name'],
    ['sql', "SELECT * FROM fish WHERE name = 'koi'", 'SELECT', 'keyword'],
    ['go', 'func main() { return 1 }', 'func', 'keyword'],
    ['rust', 'fn main() { let a = 1; }', 'fn', 'keyword'],
    ['md', '# Head\n\n- one', '# Head', 'name'],
  ];

  for (const colorScheme of ['light', 'dark'] as const)
    it(`has colours that can be read, ${colorScheme}`, async () => {
      const id = await session(samples.map(([language, text]) => fence(language, text)).join('\n'));
      const page = await viewer.open(house.gateway.url, {
        path: '/',
        at: `#/chat/${id}`,
        colorScheme,
        viewport: { width: 1360, height: 2_400 },
      });
      for (const [language, text, piece, tone] of samples) {
        const code = page.locator(`.assistant [aria-label="Code, ${language}"]`);
        await code.locator(`.code-${tone}`, { hasText: piece }).first().waitFor();
        expect(await code.textContent()).to.equal(text);
      }
      expect(await page.evaluate('window.hit')).to.equal(undefined);
      expect(await page.locator('.prose img').count()).to.equal(0);
      expect(await wrongWith(page, rulesOfColour)).to.deep.equal([]);
      await picture(page, `console-code-${colorScheme}`);
      await page.context().close();
    });

  it('costs nothing before there is some, and is left as it is where it is long or of no known language', async () => {
    const long = `const a = 1;\n`.repeat(3_000);
    const [none, some] = [await session('no code'), await session(fence('ts', long) + fence('', 'const'))];
    const page = await viewer.open(house.gateway.url, { path: '/' });
    const files = fetchedBy(page);
    await viewer.go(page, `#/chat/${none}`);
    await page.waitForSelector('.assistant >> text=no code');
    await viewer.go(page, `#/chat/${some}`);
    await page.waitForSelector('.assistant [aria-label=Code]');
    const highlighters = (): number => files.filter((path) => /\/highlight-\w+\.js$/.test(path)).length;
    expect(highlighters()).to.equal(0);
    await viewer.go(page, `#/chat/${await session(fence('fish', 'const') + fence('ts', 'const b = 2;'))}`);
    await page.waitForSelector('.assistant [aria-label="Code, ts"] .code-keyword');
    expect(await page.locator('.assistant [aria-label="Code, fish"] span').count()).to.equal(0);
    await viewer.go(page, `#/chat/${some}`);
    await page.waitForSelector('.assistant [aria-label=Code]');
    await until(page, 'document.querySelectorAll(".assistant").length === 1');
    expect(await page.locator('.assistant pre span').count()).to.equal(0);
    expect(highlighters()).to.equal(1);
    await page.context().close();
  });

  it('of a file that is shown is in the colours of the language that its name says', async () => {
    const page = await viewer.open(house.gateway.url, { path: '/' });
    const createdAt = new Date().toISOString();
    await page.route('**/api/files', (route) =>
      route.fulfill({ json: [{ id: 'f1', filename: 'Fish.TS', size: 9, createdAt }] }),
    );
    const body = 'export const koi = "<b>";\n';
    await page.route('**/api/files/f1', (route) => route.fulfill({ contentType: 'text/plain', body }));
    await viewer.go(page, '#/files');
    await page.click('[aria-label="Show Fish.TS"]');
    await page.waitForSelector('[data-preview] pre .code-string >> text=<b>');
    expect(await page.locator('[data-preview] pre').textContent()).to.equal(body);
    await page.context().close();
  });

  // Nothing of the page was drawn any more, or it did not answer for as long as the reader was at it
  it('shows as they are answers and code that would hold the page up', async () => {
    const minified = 'function a(b,c){return b*c+_d._e}var _f=a(1,2)*3;'.repeat(4_000);
    const texts = [`\n${'>'.repeat(10_000)} end`, minified, fence('md', '[a](='.repeat(5_000))];
    const page = await viewer.open(house.gateway.url, { path: '/' });
    for (const text of texts) {
      await viewer.go(page, `#/chat/${await session(text)}`);
      await page.waitForSelector('.assistant');
      await until(page, `document.querySelector('.assistant').textContent.length > ${text.length - 20}`);
      expect(await page.locator('.assistant pre span').count()).to.equal(0);
    }
    await page.context().close();
  });

  it('breaks no rule of the page and throws nothing', () => {
    expect(viewer.complaints).to.deep.equal([]);
  });
});
