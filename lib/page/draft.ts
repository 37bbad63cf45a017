/**
 * What is being written, kept on this device until it is saved: a closed tab loses nothing. Of a workflow, what was
 * saved stays beside it with its comments, which the gateway does not keep.
 */
export interface Draft {
  readonly text: string;
  /** Version that it began with; 0: of none. */
  readonly version: number;
  /** Undefined: this is what was saved as that version. */
  readonly at: number | undefined;
  /** Of a text without versions: what it began with. */
  readonly from?: string | undefined;
}

/** `of`: `workflow.w1`, `workflow.` for a new one, `text.skills/review/SKILL.md`. */
export function readDraft(of: string): Draft | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(slotOf(of)) ?? 'null') as Partial<Draft> | null;
    return typeof kept?.text === 'string' && typeof kept.version === 'number'
      ? {
          text: kept.text,
          version: kept.version,
          at: typeof kept.at === 'number' ? kept.at : undefined,
          from: typeof kept.from === 'string' ? kept.from : undefined,
        }
      : undefined;
  } catch {
    return undefined; // storage is switched off, or holds what another wrote
  }
}

/** False where nothing can be kept: storage is switched off or full. */
export function keepDraft(of: string, draft: Draft): boolean {
  try {
    localStorage.setItem(slotOf(of), JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export function dropDraft(of: string): void {
  try {
    localStorage.removeItem(slotOf(of));
  } catch {
    /* as above */
  }
}

/** How many texts were written here and not saved. */
export const draftCount = (): number =>
  draftSlots().filter((slot) => readDraft(slot.slice(prefix.length))?.at !== undefined).length;

/** Nothing that was written here stays on the device, nor what lies beside it. */
export function dropDrafts(): void {
  for (const slot of draftSlots()) dropDraft(slot.slice(prefix.length));
}

function draftSlots(): readonly string[] {
  try {
    return Object.keys(localStorage).filter((slot) => /^troupe\.(?:workflow|text)\./.test(slot));
  } catch {
    return []; // as above
  }
}

const prefix = 'troupe.';
const slotOf = (of: string): string => prefix + of;
