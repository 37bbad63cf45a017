/**
 * The house, low to high. A file may import from its own room and from lower floors, never from above and
 * never across. The longest matching prefix names the room of a file.
 */
export const floors: readonly (readonly string[])[] = [
  ['machines'],
  ['actors'],
  [
    'lib/store',
    'lib/environment.ts',
    'lib/version.ts',
    'lib/opened.ts',
    'lib/nearest.ts',
    'lib/docs',
    'lib/client',
    'lib/build-pages.ts',
  ],
  ['lib/supervisor', 'lib/home', 'lib/page'],
  ['lib/records', 'lib/worker'],
  ['lib/commands', 'lib/inspector', 'lib/mcp', 'lib/telemetry'],
  ['lib/gateway', 'lib/console'],
  ['lib/agents.ts', 'lib/ports.ts', 'lib/following.ts', 'lib/open-home.ts', 'lib/testing'],
  ['lib/instance.ts', 'lib/testing.ts'],
  ['lib/index.ts', 'lib/entries'],
  ['lib/cli', 'lib/build-command.ts', 'examples'],
];

/** Packages by the rooms that may use them. Node's own modules are free to all but the machines. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  xstate: ['machines', 'actors', 'lib/supervisor', 'lib/testing', 'lib/testing.ts', 'examples'],
  xstate6: ['examples'],
  croner: ['machines'],
  level: ['lib/store'],
  postgres: ['lib/store'],
  'age-encryption': ['lib/home'],
  aws4fetch: ['lib/home'],
  '@opentelemetry/api': ['lib/telemetry'],
  '@opentelemetry/exporter-logs-otlp-http': ['lib/telemetry'],
  '@opentelemetry/exporter-metrics-otlp-http': ['lib/telemetry'],
  '@opentelemetry/exporter-trace-otlp-http': ['lib/telemetry'],
  '@opentelemetry/resources': ['lib/telemetry'],
  '@opentelemetry/sdk-logs': ['lib/telemetry'],
  '@opentelemetry/sdk-metrics': ['lib/telemetry'],
  '@opentelemetry/sdk-trace': ['lib/telemetry'],
  superjson: ['lib/supervisor', 'lib/store'],
  pino: [
    'lib/environment.ts',
    'lib/agents.ts',
    'lib/worker',
    'lib/home',
    'lib/store',
    'lib/supervisor',
    'lib/gateway',
    'lib/telemetry',
  ],
  chai: ['lib/testing'],
  '@modelcontextprotocol/sdk': ['actors', 'lib/mcp'],
  koa: ['lib/gateway', 'examples'],
  express: ['examples'],
  '@koa/router': ['lib/gateway'],
  'koa-body': ['lib/gateway'],
  ws: ['lib/gateway', 'lib/inspector', 'lib/cli', 'lib/client', 'lib/worker'],
  'openapi-fetch': ['lib/client'],
  '@dagrejs/dagre': ['lib/inspector'],
  '@tanstack/virtual-core': ['lib/page'],
  preact: ['lib/page', 'lib/inspector', 'lib/console'],
  '@preact/signals': ['lib/page', 'lib/inspector', 'lib/console'],
  esbuild: ['lib/build-command.ts', 'lib/build-pages.ts', 'examples'],
  commander: ['lib/cli'],
  uqr: ['lib/cli'],
  marked: ['lib/docs', 'lib/page', 'lib/console'],
  diff: ['lib/console'],
  'highlight.js': ['lib/console'],
  yaml: ['actors', 'lib/home', 'lib/records', 'lib/console'],
  zod: [
    'lib/worker',
    'lib/home',
    'lib/records',
    'lib/commands',
    'lib/gateway',
    'lib/mcp',
    'lib/inspector',
    'actors',
    'examples',
  ],
  '@a2a-js/sdk': ['actors', 'lib/gateway'],
  openai: ['actors'],
  '@slack/web-api': ['actors'],
  '@slack/socket-mode': ['actors'],
  '@discordjs/rest': ['actors'],
  '@discordjs/ws': ['actors'],
  'discord-api-types': ['actors'],
  grammy: ['actors'],
  'node-sqlite3-wasm': ['lib/cli'],
  nodemailer: ['actors'],
  re2js: ['machines'],
  '@agentclientprotocol/sdk': ['actors'],
  troupe: ['examples'],
};

export function roomOf(path: string): string | undefined {
  return floors
    .flat()
    .filter((room) => path === room || path.startsWith(`${room}/`))
    .sort((one, other) => other.length - one.length)[0];
}

export const floorOf = (room: string): number => floors.findIndex((rooms) => rooms.includes(room));
