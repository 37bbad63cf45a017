import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { authorityIds } from '../lib/gateway/authorization.js';
import { cookieJar } from '../lib/gateway/authentication.js';
import { frameNames } from '../lib/gateway/websocket/frames.js';
import { openapi } from '../lib/gateway/openapi.js';
import { routesOf } from '../lib/gateway/routes/index.js';
import type { Route } from '../lib/gateway/route.js';
import { layoutOf } from '../lib/home/layout.js';
import { openEvidence } from '../lib/records/evidence/evidence.js';
import { openRecords, type Records } from '../lib/records/records.js';
import { systemEnvironment } from '../lib/environment.js';
import { refusalTable } from '../machines/refusals.js';
import {
  castsOver,
  circles,
  gatheringPlaces,
  impurities,
  importsOf,
  kebabCase,
  longestWay,
  longFiles,
  smallFiles,
  strayPackages,
  upwardImports,
  uses,
  wideLines,
} from './house/rules.js';
import { root, sourceOf, sourcesOf } from './house/sources.js';
import { isRetiredInSpecs, retiredComments, retiredNames, retiredSentences } from './house/words.js';

/**
 * The rules of the house as a test, so that the drawing in CONTRIBUTING stays true. Each rule is first shown to
 * catch what it forbids.
 */
describe('the house', () => {
  const house = sourcesOf(['machines', 'actors', 'lib', 'examples']);
  const specs = sourcesOf(['spec']);
  const below = (folder: string) => house.filter(({ path }) => path.startsWith(`${folder}/`));

  it('is not empty', () => {
    expect(house.length).to.be.greaterThan(20);
    expect(specs.length).to.be.greaterThan(5);
  });

  describe('floors', () => {
    it('has no arrow up or across', () => {
      expect(upwardImports(house)).to.deep.equal([]);
    });

    it('would notice an arrow up, an arrow across and a file without a room', () => {
      const up = sourceOf('machines/session/machine.ts', "import { x } from '../../lib/environment.js';");
      const across = sourceOf('lib/commands/a.ts', "export type { Y } from '../inspector/feed.js';");
      const dynamic = sourceOf('actors/budget/a.ts', "const x = await import('../../lib/environment.js');");
      const homeless = sourceOf('lib/odd.ts', '');
      const fine = sourceOf(
        'lib/gateway/a.ts',
        "// import { z } from '../cli/main.js'\nimport { w } from '../environment.js';",
      );
      expect(
        upwardImports([up, across, dynamic, homeless, fine]).map((sentence) => sentence.split(' ')[0]),
      ).to.deep.equal([up.path, across.path, dynamic.path, homeless.path]);
    });

    it('has at most eight within the supervisor', () => {
      const way = longestWay(below('lib/supervisor'));
      expect(way.length, way.join(' → ')).to.be.within(2, 8);
    });

    it('counts what is used at run time, and no types', () => {
      const tower = [
        "import { b } from './b.js';",
        "import { c } from './c.js';\nimport type { D } from './d.js';",
        "import type { D } from './d.js';",
        '',
      ].map((text, index) => sourceOf(`lib/store/${'abcd'[index]}.ts`, text));
      expect(longestWay(tower)).to.deep.equal(['lib/store/a.ts', 'lib/store/b.ts', 'lib/store/c.ts']);
    });

    it('has no circles', () => {
      expect(circles(house)).to.deep.equal([]);
    });

    it('would notice a circle of three', () => {
      const ring = ['a', 'b', 'c'].map((name, index) =>
        sourceOf(`lib/store/${name}.ts`, `import type { T } from './${'bca'[index]}.js';`),
      );
      expect(circles(ring)).to.deep.equal([
        'lib/store/a.ts → lib/store/b.ts → lib/store/c.ts → lib/store/a.ts',
      ]);
    });

    it('imports each package only in its rooms', () => {
      expect(strayPackages(house)).to.deep.equal([]);
      expect(
        strayPackages([
          sourceOf('lib/commands/a.ts', "import Koa from 'koa';"),
          sourceOf('lib/store/a.ts', "import x from 'left-pad';"),
        ]),
      ).to.have.length(2);
    });
  });

  describe('machines', () => {
    it('are pure: no clock, no chance, no node, no world', () => {
      expect(impurities(below('machines'))).to.deep.equal([]);
    });

    it('would be caught reading the clock, even inside a template', () => {
      const sly = sourceOf(
        'machines/x/machine.ts',
        'const text = `at ${Date.now()}`; const fine = "Date.now()"; // Date.now()\nconst iso = new Date(at).toISOString();',
      );
      expect(impurities([sly])).to.deep.equal(['machines/x/machine.ts uses Date.now']);
    });

    it('do not know each other', () => {
      const outsiders = below('machines').flatMap(({ path, imports }) =>
        imports.flatMap(({ file }) => {
          const [, own, deeper] = path.split('/');
          const [, other, deep] = file?.split('/') ?? [];
          // What a workflow is made of is common ground of definitions, runs and triggers; it knows none of
          // them.
          return deeper === undefined || deep === undefined || own === other || other === 'graph'
            ? []
            : [`${path} imports ${file}`];
        }),
      );
      expect(outsiders).to.deep.equal([]);
    });
  });

  describe('routes', () => {
    const gateway = {
      version: '0',
      instance: 'default',
      startedAt: 0,
      authRequired: true,
      networkExposed: false,
      host: '127.0.0.1',
      port: 0,
    };
    let routes: readonly Route[];
    let home: string;
    let records: Records;
    // With everything that makes routes possible, so that none escapes the rules.
    before(async () => {
      home = await mkdtemp(join(tmpdir(), 'troupe-house-'));
      records = await openRecords({
        layout: layoutOf({ home }),
        environment: systemEnvironment(),
        root: null,
      });
      const evidence = await openEvidence({ standard: join(home, 'evidence') });
      const pairing = { devices: records.devices, cookies: cookieJar('default'), codeKey: 'x' };
      routes = routesOf(gateway, {
        backup: () => Promise.reject(new Error('not called')),
        records,
        evidence,
        pairing,
        hookSecret: 'of no gateway',
        console: { config: () => ({}), edit: async () => ({}), log: async () => [] },
      });
    });
    after(async () => {
      await records.close();
      await rm(home, { recursive: true });
    });

    it('each have an authority of the table, a sentence and a schema of the answer', () => {
      expect(routes.length).to.be.greaterThan(20);
      for (const { method, path, authority, schema: shape } of routes) {
        expect(authorityIds, `${method} ${path}`).to.include(authority);
        expect(shape.about.length, `${method} ${path} says what it does`).to.be.greaterThan(5);
        expect(typeof shape.answer.parse, `${method} ${path} has a schema`).to.equal('function');
      }
      expect(
        authorityIds.filter(
          (id) =>
            !['ws.watch', 'inspect.watch'].includes(id) && !routes.some(({ authority }) => authority === id),
        ),
        'rows that no route uses',
      ).to.deep.equal([]);
    });

    it('stand once each in the OpenAPI document', () => {
      const { paths } = openapi(routes, '0') as { paths: Record<string, Record<string, unknown>> };
      const written = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
      expect(written).to.have.members([
        ...routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`),
        'GET /ws',
        'GET /ws/inspect',
        'GET /ws/stately',
      ]);
    });

    it('document every frame that the code announces', () => {
      const literal =
        /'((?:sessions?|engines|queue|company|run|cron|connectors?|org|skills|config|file|device|decision|budget|backup|system):[a-z-]+)'/g;
      const announced = new Set(
        house
          .filter(
            ({ path }) => !/^(?:examples|lib\/cli|lib\/inspector|lib\/gateway\/websocket\/frames)/.test(path),
          )
          .flatMap(({ text }) => [...text.matchAll(literal)].map((match) => match[1] ?? '')),
      );
      expect(announced.size).to.be.greaterThan(30);
      expect(
        [...announced].filter((name) => !Object.hasOwn(frameNames, name)),
        'announced and not documented',
      ).to.deep.equal([]);
      // From the state, see machines/workflow-run/machine.ts
      const made = [
        'run:running',
        'run:parked',
        'run:completed',
        'run:failed',
        'run:cancelled',
        'run:resumed',
      ];
      expect(
        Object.keys(frameNames).filter(
          (name) => name.includes(':') && !announced.has(name) && !made.includes(name),
        ),
        'documented and never announced',
      ).to.deep.equal([]);
    });

    it('document every refusal that the code can give', () => {
      const given = new Set(
        house.flatMap(({ text }) =>
          [...text.matchAll(/\brefuse\(\s*'([A-Z_]+)'/g)].map((match) => match[1] ?? ''),
        ),
      );
      const documented = JSON.stringify(openapi(routes, '0'));
      expect(
        [...given].filter((code) => !Object.hasOwn(refusalTable, code)),
        'unknown codes',
      ).to.deep.equal([]);
      expect(
        [...given].filter((code) => !documented.includes(code)).sort(),
        'undocumented codes',
      ).to.deep.equal([]);
    });

    it('find a sentence and a status for every code', () => {
      for (const [code, [status, sentence]] of Object.entries(refusalTable)) {
        expect(status, code).to.be.within(400, 599);
        expect(sentence, code).to.match(/^[A-Z].+\.$/);
      }
    });
  });

  it("touches XState's actor scope in one file only of each major", () => {
    expect(
      uses(below('lib'), /\bactorScope\b|\bAnyActorScope\b|\.transition\([^)]*scope/i, [
        'lib/supervisor/draft/step.ts',
        'lib/supervisor/xstate6/driver.ts',
      ]),
    ).to.deep.equal([]);
    expect(
      uses([sourceOf('lib/x.ts', 'machine.transition(snapshot, event, scope)')], /\.transition\([^)]*scope/i),
    ).to.have.length(1);
  });

  // What goes past the port can neither be failed by a simulation nor be lost in a simulated power cut.
  it('lets the store reach the disk through its port only', () => {
    expect(importsOf(below('lib/store'), 'node:fs', ['lib/store/files.ts'])).to.deep.equal([]);
    const sly = sourceOf('lib/store/x.ts', "const { rm } = await import('node:fs/promises');");
    expect(importsOf([sly], 'node:fs')).to.deep.equal(['lib/store/x.ts imports node:fs/promises']);
  });

  // Children inherit what LevelDB has open, unless they are started there
  it('starts programs in one place', () => {
    const starts = /^import (?!type)[^;]*'node:child_process'/m;
    expect(house.filter(({ text }) => starts.test(text)).map(({ path }) => path)).to.deep.equal([
      'actors/sandbox/link-main.ts', // within a sandbox
      'actors/start-program.ts',
    ]);
  });

  it('keeps every file within one idea: at most 350 formatted lines, examples 110', () => {
    expect(longFiles(house, 350)).to.deep.equal([]);
    expect(longFiles(below('examples'), 110)).to.deep.equal([]);
  });

  it('has at most 40 files of less than 30 lines, and none of one', () => {
    const product = house.filter(({ path }) => !path.startsWith('examples/'));
    expect(smallFiles(product, 30).length, smallFiles(product, 30).join('\n')).to.be.at.most(40);
    expect(smallFiles(product, 2)).to.deep.equal([]);
    const sly = [sourceOf('lib/x.ts', 'export {};\n'), sourceOf('lib/y.ts', '//\n'.repeat(30))];
    expect(smallFiles(sly, 30)).to.deep.equal(['lib/x.ts has 1 lines']);
  });

  it('keeps every line within 120 columns', () => {
    expect(wideLines(house, 120)).to.deep.equal([]);
    const wide = sourceOf('lib/x.ts', `const x = '${'a'.repeat(120)}';\n/${'a'.repeat(120)}/;`);
    expect(wideLines([wide], 120)).to.deep.equal(['lib/x.ts:1 has 133 columns']);
  });

  describe('words', () => {
    // Members of snapshots of version 1 (`spots`), and the specification's hand-off
    const kept = new Set(['spots', 'handOff', 'mayHandOff', 'handoff']);

    it('of the old dialect are in no identifier, file name or sentence', () => {
      expect(retiredNames(house, kept)).to.deep.equal([]);
      expect(retiredSentences(house, kept)).to.deep.equal([]);
    });

    it('of the old dialect are in no comment', () => {
      expect(retiredComments(house, kept)).to.deep.equal([]);
    });

    it('of the old dialect are in no comment or name of a spec', () => {
      const others = specs.filter(({ path }) => !/^spec\/house(?:\.spec|\/words)\.ts$/.test(path));
      // Members of bodies and kinds that hosts in specs made up
      const ofHosts = new Set([...kept, 'deed', 'deeds', 'desk', 'Desk', 'DeskEvent', 'deskWith', 'nobody']);
      expect(retiredNames(others, ofHosts, isRetiredInSpecs)).to.deep.equal([]);
      expect(retiredComments(others, new Set([...kept, 'deed', 'deeds', 'asking']))).to.deep.equal([]);
    });

    it('would be noticed', () => {
      const text = "const tellDesk = (deeds) => `Nobody ${deeds} was told`; // nobody's comment";
      const sly = sourceOf('lib/kin.ts', text);
      expect(retiredNames([sly], kept).map((sentence) => sentence.split(': ')[1])).to.deep.equal([
        'relation',
        'tellDesk',
        'tellDesk',
      ]);
      expect(retiredSentences([sly], kept)).to.have.length(2);
      expect(retiredComments([sly], kept)).to.have.length(1);
    });
  });

  // Kinds carry their types to every call; where they are thrown away a misspelt member is found by nobody
  it('casts over `unknown` only where a library hides its types', () => {
    expect(castsOver(house), castsOver(house).join('\n')).to.have.lengthOf.at.most(20);
    expect(uses(house, /\brecordOf\(/)).to.deep.equal([]);
    const sly = sourceOf(
      'lib/x.ts',
      'const a = b as unknown as C;\nconst d = e\n  as unknown as F; // as unknown as G',
    );
    expect(castsOver([sly])).to.deep.equal(['lib/x.ts', 'lib/x.ts']);
  });

  // One way to the API: what the client knows of refusals, keys and repeats must not be made again
  it('lets the pages call the gateway by the client alone', () => {
    const pages = sourcesOf(['lib/page', 'lib/inspector/page', 'lib/console/page']);
    expect(pages.length).to.be.greaterThan(50);
    expect(uses(pages, /\bfetch\(|\bXMLHttpRequest\b/, ['lib/page/gateway.ts'])).to.deep.equal([]);
    expect(uses([sourceOf('lib/page/x.ts', "await fetch('/api/x')")], /\bfetch\(/)).to.have.length(1);
  });

  it('names files for what is in them', () => {
    expect(gatheringPlaces([...house, ...specs])).to.deep.equal([]);
    expect([...house, ...specs].map(({ path }) => path).filter((path) => !kebabCase(path))).to.deep.equal([]);
  });

  it('lets examples use the package by its own name, like everybody else', () => {
    const deep = below('examples').flatMap(({ path, imports }) =>
      imports
        .filter(
          ({ specifier }) =>
            !/^(?:troupe(?:\/(?:agents|client|connectors|gateway|level|machines|postgres|testing|xstate6))?|node:.+|xstate|xstate6(?:\/durable)?|zod|esbuild|express|koa)$/.test(
              specifier,
            ),
        )
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(deep).to.deep.equal([]);
  });

  it('focuses and skips no test', () => {
    expect(
      uses(
        specs,
        /\b(?:describe|it|context|specify)\.(?:only|skip)\s*\(|\bthis\.skip\s*\(|\bx(?:it|describe)\s*\(/,
      ),
    ).to.deep.equal([]);
  });

  // A guide that names a file of yesterday sends its reader astray
  it('names only files that exist where it says how to find one', () => {
    const guides = [
      'lib/README.md',
      'lib/supervisor/README.md',
      'machines/README.md',
      '.github/CONTRIBUTING.md',
    ];
    const missing = guides.flatMap((guide) =>
      pathsIn(readFileSync(join(root, guide), 'utf8'))
        .filter((path) => ![dirname(guide), '.', 'lib'].some((from) => existsSync(join(root, from, path))))
        // One that every kind has, as `machine.ts`, is named without its folder
        .filter((path) => path.includes('/') || !house.some((source) => source.path.endsWith(`/${path}`)))
        .map((path) => `${guide} names ${path}`),
    );
    expect(missing).to.deep.equal([]);
    expect(pathsIn('see `lib/gone.ts`, `a/b/`, `npm test`, `events/s`')).to.deep.equal([
      'lib/gone.ts',
      'a/b/',
    ]);
  });

  it('leaves no word of unfinished work', () => {
    const unfinished = house
      .filter(({ text }) => /\b(?:TODO|FIXME|XXX)\b|not implemented/.test(text))
      .map(({ path }) => path);
    expect(unfinished).to.deep.equal([]);
  });
});

/** The files and folders that a text names: `lib/home/layout.ts`, `lib/store/`. */
const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/`((?:\.?[\w-]+\/)*(?:[\w-]+\.(?:tsx?|mjs)|[\w-]+\/))`/g)].map(([, path = '']) => path);
