// The public face of every entry of package.json, from the built declarations, on standard output as JSON: the
// `report` of the signatures for reviewers, the `reference` with the docstrings for users, and what is `bare` of them within.
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareMembers } from './bare-members.mjs';
import { referenceOf } from './reference.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const folder = await mkdtemp(join(tmpdir(), 'troupe-api-'));
const entries = Object.entries(exports).filter(([, target]) => typeof target === 'object');

const configs = entries.map(([name, { types }]) =>
  ExtractorConfig.prepare({
    configObjectFullPath: join(root, 'api-extractor.json'),
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(root, types),
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'ES2022',
            module: 'NodeNext',
            moduleResolution: 'NodeNext',
            lib: ['ES2023'],
            types: ['node'],
            skipLibCheck: true,
          },
          include: [join(root, types)],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${name.slice(2) || 'troupe'}.api.md`,
        reportFolder: folder,
        reportTempFolder: join(folder, 'temp'),
      },
      docModel: {
        enabled: true,
        apiJsonFilePath: join(folder, `${name.slice(2) || 'troupe'}.api.json`),
      },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: 'none' } },
        extractorMessageReporting: { default: { logLevel: 'none' } },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
    },
  }),
);
const [first] = configs;
const compilerState = CompilerState.create(first, {
  additionalEntryPoints: configs.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath),
});
const parts = [];
const models = [];
for (const [index, config] of configs.entries()) {
  Extractor.invoke(config, {
    localBuild: true,
    compilerState,
    messageCallback: (message) => (message.handled = true),
  });
  const text = await readFile(config.reportFilePath, 'utf8');
  const code = (/```ts\n([^]*)```/.exec(text)?.[1] ?? '')
    .replace(/^import .*\n/gm, '')
    // Made from the OpenAPI document, and shown in the guide to the HTTP API
    .replace(/^(export interface (?:components|paths) )\{\n[^]*?^\}/gm, '$1{ … }');
  models.push([
    entries[index][0].replace('.', 'troupe'),
    JSON.parse(await readFile(config.apiJsonFilePath, 'utf8')),
  ]);
  parts.push(`## ${entries[index][0].replace('.', 'troupe')}\n\n\`\`\`ts\n${code.trim()}\n\`\`\`\n`);
}
await rm(folder, { recursive: true });
const report = `# The public face\n\nMade from the declarations of every entry: \`npm run docs\`. A change of it is a change for users.\n\n${parts.join('\n')}`;
const bares = bareMembers(entries.map(([, { types }]) => join(root, types)));
const bare = entries.map(([name], index) => [name.replace('.', 'troupe'), bares[index]]);
process.stdout.write(
  JSON.stringify({ report, reference: referenceOf(models), bare: Object.fromEntries(bare) }),
);
