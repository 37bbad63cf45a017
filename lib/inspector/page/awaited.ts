import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { actorPath, ask } from '../../page/ask.js';
import type { WhyAnswer } from '../answers.js';
import type { ActorKey, Json } from '../../../machines/outputs.js';

/**
 * On whom an actor waits, in words, from what its kind tells of that (`Kind.awaits`): `on operator or ann`.
 * Empty: on no one.
 */
export function awaited(awaits: Json | undefined): string {
  const holders = [...new Set(holdersIn(awaits, 0))];
  if (holders.length > 0)
    return `on ${holders.slice(0, 4).join(' or ')}${holders.length > 4 ? ' or others' : ''}`;
  if (typeof awaits !== 'object' || awaits === null || Array.isArray(awaits)) return '';
  const { person, room } = awaits as { readonly person?: Json; readonly room?: Json };
  if (typeof person === 'string') return 'on a person';
  return room === true ? 'for an earlier run to end' : '';
}

/** Those who hold a key (may decide), wherever in it they are told of. */
function holdersIn(value: Json | undefined, depth: number): readonly string[] {
  if (typeof value !== 'object' || value === null || depth > 4) return [];
  if (Array.isArray(value)) return value.flatMap((inner: Json) => holdersIn(inner, depth + 1));
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'keyHolders' && Array.isArray(inner)
      ? inner.filter((one): one is string => typeof one === 'string')
      : holdersIn(inner, depth + 1),
  );
}

/**
 * The same for a row of a list: asked for once the row has stood still for a moment, and only where someone
 * may be waited for.
 */
export function useAwaited(actor: ActorKey & { readonly seq: number }, wanted: boolean): string {
  const text = useSignal('');
  useEffect(() => {
    text.value = '';
    if (!wanted) return;
    const end = new AbortController();
    const timer = setTimeout(
      () =>
        void ask<WhyAnswer>(actorPath(actor, '/why'), { signal: end.signal }).then(
          ({ awaits }) => {
            text.value = awaited(awaits);
          },
          () => undefined,
        ),
      250,
    );
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [actor.kind, actor.id, actor.seq, wanted]);
  return text.value;
}
