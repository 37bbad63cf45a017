import { access, readFile } from 'node:fs/promises';
import type { Layout } from '../home/layout.js';
import { hint, type Terminal } from './command-line.js';
import type { Finding } from './finding.js';
import { gatewayService, managerOf } from './service/manager.js';

/** Whether the definition that starts this home at login starts this very Node and Troupe. */
export async function service(layout: Layout, env: Terminal['env']): Promise<Finding | undefined> {
  const manager = managerOf();
  if (manager === undefined) return undefined;
  const wanted = gatewayService(layout, env);
  const definition = await readFile(manager.file(wanted), 'utf8').catch(() => undefined);
  if (definition === undefined) return undefined;
  const about = 'service';
  const remedy = hint(layout, 'service install');
  const [node = '', ...words] = wanted.command;
  const main = words.find((word) => word.endsWith('.js')) ?? '';
  if ([node, main].every((path) => definition.includes(path)))
    return { grade: 'good', about, what: `${wanted.name} starts it at login` };
  const named = definition.match(/\/[^\s"<>]+\/(?:node|troupe\.js|main\.js)(?=[\s"<]|$)/g) ?? [];
  const gone: string[] = [];
  for (const path of named) await access(path).catch(() => gone.push(path));
  return gone.length > 0
    ? { grade: 'bad', about, what: `${wanted.name} starts ${gone.join(' and ')}, which is gone`, remedy }
    : {
        grade: 'poor',
        about,
        what: `${wanted.name} starts ${named.join(' ')}, which is another installation than this one`,
        remedy,
      };
}
