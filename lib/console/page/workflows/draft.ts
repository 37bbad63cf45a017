/**
 * What is being written of a workflow, kept on this device until it is saved: a closed tab loses nothing. What was
 * saved stays beside it with its comments, which the gateway does not keep.
 */
export interface Draft {
  readonly text: string;
  /** Version that it began with; 0: of none. */
  readonly version: number;
  /** Undefined: this is what was saved as that version. */
  readonly at: number | undefined;
}

/** `id`: undefined for a new workflow. */
export function readDraft(id: string | undefined): Draft | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(slotOf(id)) ?? 'null') as Partial<Draft> | null;
    return typeof kept?.text === 'string' && typeof kept.version === 'number'
      ? { text: kept.text, version: kept.version, at: typeof kept.at === 'number' ? kept.at : undefined }
      : undefined;
  } catch {
    return undefined; // storage is switched off, or holds what another wrote
  }
}

/** False where nothing can be kept: storage is switched off or full. */
export function keepDraft(id: string | undefined, draft: Draft): boolean {
  try {
    localStorage.setItem(slotOf(id), JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export function dropDraft(id: string | undefined): void {
  try {
    localStorage.removeItem(slotOf(id));
  } catch {
    /* as above */
  }
}

const slotOf = (id: string | undefined): string => `troupe.workflow.${id ?? ''}`;
