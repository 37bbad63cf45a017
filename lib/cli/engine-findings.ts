import type { Engine, EngineAccess } from '../../actors/engines/engine.js';
import type { Config } from '../home/config.js';
import { configuredEngines } from '../home/engines.js';
import type { Layout } from '../home/layout.js';
import { connect, running } from './client.js';
import type { Finding } from './finding.js';

/**
 * What `doctor` finds of engines: the program, how it gets in at its provider, and what is not passed on to it. Which
 * variables there are is a question to the gateway that runs; without one, this terminal's are those of the next start.
 */
export function engineQuestions(
  config: Config,
  layout: Layout,
): readonly (() => Promise<Finding | undefined>)[] {
  const standard = config.engines.default;
  // The clerk asks whether there is a gateway: there will be one when it is needed.
  const engines = configuredEngines(config, () => 'http://127.0.0.1', layout.engines);
  let known: ReturnType<typeof accessInGateway> | undefined;
  const accessOf = async (engine: Engine): Promise<EngineAccess | undefined> => {
    known ??= accessInGateway(layout).catch(() => undefined);
    const ofGateway = await known;
    return ofGateway === undefined ? engine.access?.() : ofGateway[engine.name]?.access;
  };
  return [
    ...engines.flatMap((engine) => [
      () => program(engine, standard),
      async () => {
        const access = (await engine.discover()).available ? await accessOf(engine) : undefined;
        return access && login(engine.name, access, engine.name === standard);
      },
    ]),
    async () =>
      unknownDefault(
        standard,
        engines.map(({ name }) => name),
      ),
  ];
}

type Listed = Readonly<Record<string, { readonly access?: EngineAccess } | undefined>>;

/** Undefined where no gateway runs. */
async function accessInGateway(layout: Layout): Promise<Listed | undefined> {
  if ((await running(layout)) === undefined) return undefined;
  const client = await connect(layout);
  const { engines } = await client.get('/api/engines');
  return engines;
}

async function program(engine: Engine, standard: string): Promise<Finding> {
  const facts = await engine.discover();
  const name = `${engine.name}${engine.name === standard ? ' (default)' : ''}`;
  if (facts.available && facts.olderThan !== undefined)
    return {
      grade: 'poor',
      about: 'engine',
      what: `${name} found, ${facts.version ?? '?'}; the oldest version that was tried is ${facts.olderThan}`,
      remedy: facts.remedy ?? 'Install a newer one.',
    };
  if (facts.available)
    return {
      grade: 'good',
      about: 'engine',
      what: `${name} found${facts.version === undefined ? '' : `, ${facts.version}`}`,
    };
  return {
    grade: engine.name === standard ? 'bad' : 'poor',
    about: 'engine',
    what: `${name} not found: ${facts.reason ?? 'no reason given'}`,
    ...(facts.remedy === undefined ? {} : { remedy: facts.remedy }),
  };
}

function login(name: string, access: EngineAccess, isDefault: boolean): Finding {
  const { state, what, remedy, notPassed, absent } = access;
  const more = [
    ...(notPassed.length === 0 || what.includes('not passed')
      ? []
      : [`not passed on: ${notPassed.join(', ')}`]),
    ...(absent.length === 0 || what.includes('not set')
      ? []
      : [`not set for the gateway: ${absent.join(', ')}`]),
  ];
  return {
    grade:
      state === 'ready' && absent.length === 0 ? 'good' : state === 'missing' && isDefault ? 'bad' : 'poor',
    about: 'login',
    what: [`${name}: ${what}`, ...more].join('; '),
    ...(remedy === undefined ? {} : { remedy }),
  };
}

function unknownDefault(standard: string, names: readonly string[]): Finding | undefined {
  if (names.includes(standard)) return undefined;
  return {
    grade: 'bad',
    about: 'engine',
    what: `engines.default is "${standard}", which is not one of ${names.join(', ')}`,
    remedy: 'Set engines.default in config.yaml to one of them, or configure that engine.',
  };
}
