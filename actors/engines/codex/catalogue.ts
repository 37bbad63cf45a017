import { createInterface } from 'node:readline';
import { isObject, listAt, objectAt, textAt, type JsonObject } from '../agent/lines.js';
import { modelsOf, ownChoice } from '../agent/program.js';
import type { EngineFacts, EngineModel } from '../engine.js';
import { childEnvironment } from '../process/environment.js';
import { startProgram } from '../../start-program.js';
import { prepareHome } from './homes.js';
import { codexEnvironment, processSettings, type CodexOptions } from './settings.js';

/**
 * Which models may be chosen: those of the settings, else those that the program itself offers. It is asked
 * once per version.
 */
export function catalogue(
  bin: string,
  options: CodexOptions,
): (version: string | undefined) => Promise<Pick<EngineFacts, 'defaultModel' | 'models'>> {
  const known = new Map<string, Promise<readonly EngineModel[]>>();
  return async (version) => {
    const own = options.model === undefined ? [] : modelsOf([options.model], levels);
    const asked =
      version === undefined || options.models !== undefined || options.baseUrl !== undefined
        ? undefined
        : (known.get(version) ?? askModels(bin, options));
    if (version !== undefined && asked !== undefined) known.set(version, asked);
    const offered = options.models === undefined ? ((await asked) ?? []) : modelsOf(options.models, levels);
    const models = [...modelsOf([ownChoice], levels), ...offered];
    return {
      defaultModel: options.model ?? ownChoice,
      models: [...own.filter(({ id }) => !models.some((model) => model.id === id)), ...models],
    };
  };
}

const levels = ['low', 'medium', 'high', 'xhigh'];
const askMsMax = 4_000;

/**
 * Speaks to the program's app-server for a moment: no turn, no model, no provider. What goes wrong is an
 * empty list.
 */
async function askModels(bin: string, options: CodexOptions): Promise<readonly EngineModel[]> {
  // where nothing runs yet (`troupe doctor` in a home that was never started) nothing is made for a look at
  // the models
  if (
    !(await prepareHome(options).then(
      () => true,
      () => false,
    ))
  )
    return [];
  const env = childEnvironment(codexEnvironment(options, { env: {} }), 'models');
  const child = startProgram(bin, [...(options.args ?? []), 'app-server', ...processSettings], {
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  return new Promise((resolve) => {
    const settle = (models: readonly EngineModel[]): void => {
      clearTimeout(timer);
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // gone already
      }
      resolve(models);
    };
    const timer = setTimeout(() => settle([]), askMsMax);
    const say = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
    child.once('error', () => settle([]));
    child.once('exit', () => settle([]));
    child.stdin.on('error', () => undefined);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = parsed(line);
      if (message['id'] === 1) {
        say({ method: 'initialized' });
        say({ method: 'model/list', id: 2, params: {} });
      } else if (message['id'] === 2)
        settle(listAt(objectAt(message, 'result'), 'data').filter(isObject).flatMap(modelOf));
    });
    say({
      method: 'initialize',
      id: 1,
      params: { clientInfo: { name: 'troupe', title: 'Troupe', version: '1' }, capabilities: null },
    });
  });
}

function modelOf(entry: JsonObject): readonly EngineModel[] {
  const id = textAt(entry, 'model') ?? textAt(entry, 'id');
  if (id === undefined || entry['hidden'] === true || id === ownChoice) return [];
  const effortLevels = listAt(entry, 'supportedReasoningEfforts').flatMap(
    (level) => textAt(level, 'reasoningEffort') ?? [],
  );
  return [
    { id, label: textAt(entry, 'displayName') ?? id, supportsEffort: effortLevels.length > 0, effortLevels },
  ];
}

function parsed(line: string): JsonObject {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
