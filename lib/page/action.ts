import { useSignal } from '@preact/signals';
import { said } from './ask.js';

/**
 * Something that a person does and the gateway may refuse: what there is to say of it, and whether it is
 * under way.
 */
export interface Action {
  readonly message: string;
  readonly busy: boolean;
  /**
   * Never twice at once. A sentence that `action` returns is shown afterwards; where it fails, what went wrong.
   */
  readonly attempt: (action: () => Promise<unknown>, meanwhile?: string) => Promise<void>;
}

export function useAction(): Action {
  const message = useSignal('');
  const busy = useSignal(false);
  const attempt: Action['attempt'] = async (action, meanwhile = '') => {
    if (busy.value) return;
    busy.value = true;
    message.value = meanwhile;
    try {
      const outcome = await action();
      message.value = typeof outcome === 'string' ? outcome : '';
    } catch (error) {
      message.value = said(error);
    }
    busy.value = false;
  };
  return { message: message.value, busy: busy.value, attempt };
}
