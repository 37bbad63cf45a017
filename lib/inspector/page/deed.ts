import { useSignal } from '@preact/signals';
import { said } from './ask.js';

/**
 * Something that a person does and the gateway may refuse: what there is to say of it, and whether it is
 * under way.
 */
export interface Deed {
  readonly told: string;
  readonly busy: boolean;
  /**
   * Never twice at once. A sentence that `deed` returns is told afterwards; where it fails, what went wrong.
   */
  readonly attempt: (deed: () => Promise<unknown>, meanwhile?: string) => Promise<void>;
}

export function useDeed(): Deed {
  const told = useSignal('');
  const busy = useSignal(false);
  const attempt: Deed['attempt'] = async (deed, meanwhile = '') => {
    if (busy.value) return;
    busy.value = true;
    told.value = meanwhile;
    try {
      const outcome = await deed();
      told.value = typeof outcome === 'string' ? outcome : '';
    } catch (error) {
      told.value = said(error);
    }
    busy.value = false;
  };
  return { told: told.value, busy: busy.value, attempt };
}
