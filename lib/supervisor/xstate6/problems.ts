import type { DrivenKind } from '../../../actors/driver.js';
import type { Machine6, Node6 } from './library.js';

/** What is wrong with a kind whose machine is one of XState 6. */
export function* problemsOf(kind: DrivenKind<Machine6>, node: Node6 = kind.machine.root): Generator<string> {
  const where = node.path.length === 0 ? 'the root' : `state "${node.path.join('.')}"`;
  for (const { id, src } of node.invoke) {
    if (typeof src !== 'string' || src.startsWith('xstate.invoke.'))
      yield `${where} invokes inline logic: name it in setup({ actors })`;
    else if (kind.machine.sources.actors?.[src] === undefined)
      yield `${where} invokes "${src}", which setup({ actors }) does not define`;
    else if (kind.effects?.[src] === undefined && kind.childKinds?.[src] === undefined)
      yield `${where} invokes "${src}" (${id}), which is neither async logic, nor an effect, nor a child kind`;
  }
  for (const child of Object.values(node.states)) yield* problemsOf(kind, child);
}
