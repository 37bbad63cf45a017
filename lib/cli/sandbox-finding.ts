import type { Config } from '../home/config.js';
import type { Layout } from '../home/layout.js';
import { homeSandbox } from '../home/sandbox.js';
import type { Finding } from './finding.js';

/** How far agents are confined here, and what to install where that is less than was asked for. */
export async function sandbox(layout: Layout, config: Config): Promise<Finding> {
  const about = 'sandbox';
  const asked = config.agents.sandbox;
  if (asked === 'off')
    return {
      grade: 'poor',
      about,
      what: 'off: agents can do what you can, and read the token of this home',
      remedy: 'Set agents.sandbox to home, workspace or strict.',
    };
  const { port } = homeSandbox({ layout, config: () => config });
  const { level, lacking } = await port.inForce(asked);
  const memory = {
    turn: 'the memory of each turn is bounded',
    process: 'the memory of each of their processes is bounded',
    none: 'their memory is not bounded',
  }[await port.memoryBound()];
  if (lacking === undefined)
    return {
      grade: 'good',
      about,
      what: `agents run at the level ${level}; ${memory}`,
    };
  const isRequired = config.agents.sandboxRequired;
  return {
    grade: isRequired ? 'bad' : 'poor',
    about,
    what: `${isRequired ? 'no agent runs' : `agents run at the level ${level}`} instead of ${asked}: ${lacking.reason}`,
    remedy: lacking.remedy,
  };
}
