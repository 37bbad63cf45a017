import type * as z from 'zod';
import { nearest } from '../../machines/text.js';
import { connectorInstance, connectorTypes } from './connector-settings.js';

/**
 * What is wrong with the settings that connectors of the built-in types have of their own. A gateway starts with such
 * a connector all the same and shows it as failed: a check of the file says so before.
 */
export function connectorFaults(given: unknown): readonly { readonly key: string; readonly what: string }[] {
  const instances = (given as Instances)?.connectors?.instances;
  if (!Array.isArray(instances)) return [];
  return instances.flatMap((instance: unknown, at) => {
    const { type } = (instance ?? {}) as { readonly type?: unknown };
    if (typeof type !== 'string') return [];
    const key = `connectors.instances.${at}`;
    if (!Object.hasOwn(connectorTypes, type)) {
      const meant = nearest(type, Object.keys(connectorTypes)); // else one of a module's
      return meant === undefined
        ? []
        : [{ key: `${key}.type`, what: `unknown type "${type}"; did you mean "${meant}"?` }];
    }
    const own = connectorTypes[type as keyof typeof connectorTypes];
    const checked = own.safeParse(withoutCommon(instance as object));
    if (checked.success) return [];
    return checked.error.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((name) => ({ key: `${key}.${name}`, what: `unknown setting${hint(name, own)}` }))
        : [
            {
              key: [key, ...issue.path].join('.'),
              what: `${issue.message.replace(/^Invalid input: /, '')}.`,
            },
          ],
    );
  });
}

type Instances = { readonly connectors?: { readonly instances?: unknown } | null } | null | undefined;

const common: readonly string[] = Object.keys(connectorInstance.shape);

const withoutCommon = (instance: object): object =>
  Object.fromEntries(Object.entries(instance).filter(([name]) => !common.includes(name)));

function hint(name: string, own: z.ZodObject): string {
  const names = [...common, ...Object.keys(own.shape)];
  const meant = nearest(name, names);
  return meant === undefined ? `; known: ${names.join(', ')}.` : `; did you mean "${meant}"?`;
}
