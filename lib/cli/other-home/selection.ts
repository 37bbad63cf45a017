import type { Answer } from '../../client/requests.js';

/** Is there an employee of this name, or will there be once the import is applied? */
export type Known = (employee: string) => 'here' | 'coming' | undefined;

export type Engines = Answer<'/api/engines', 'get'>['engines'];
const members = ['engine', 'model', 'effortLevel'] as const;
export type SelectionMember = (typeof members)[number];

/**
 * Of what someone or something runs on, the members that this gateway would refuse: an engine that it does not know,
 * with all that depends on it, a model, an effort.
 * @example unfitSelection(engines, { engine: 'claude', model: 'of-yesterday' }) // ['model', 'effortLevel']
 */
export function unfitSelection(
  engines: Engines,
  said: Readonly<Partial<Record<SelectionMember, unknown>>>,
): readonly SelectionMember[] {
  const present = members.filter((member) => said[member] != null && said[member] !== '');
  const engine = engines[String(said.engine)];
  if (engine === undefined) return present; // without an engine a model means that server's default one
  const model = engine.models.find(({ id }) => id === said.model);
  const isUnknown =
    said.model != null && model === undefined && (engine.available || engine.models.length > 0);
  const efforts = model?.effortLevels ?? [];
  return present.filter(
    (member) =>
      (member === 'model' && isUnknown) ||
      (member === 'effortLevel' && (isUnknown || !efforts.includes(String(said.effortLevel)))),
  );
}
