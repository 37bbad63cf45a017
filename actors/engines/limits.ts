/**
 * What is known of a provider's limits, as the API shows it. Five kinds: `live` (told within the last
 * minutes), `cached` (told earlier), `static` (nothing was told yet; only what the engine is configured
 * with), `unsupported` (it never tells) and `error`. Limits are observations of past turns, never a cap on
 * the next: to ask for them spends nothing.
 */
export interface EngineLimits {
  readonly status: 'live' | 'cached' | 'static' | 'unsupported' | 'error';
  /** Where it comes from, in words: `account/rateLimits/updated`. */
  readonly source: string;
  readonly refreshedAt?: string;
  readonly windows?: readonly LimitWindow[];
  readonly accountPlan?: string;
  readonly unsupportedReason?: string;
  readonly error?: string;
  /** Told longer than half an hour ago. */
  readonly stale?: boolean;
}

export interface LimitWindow {
  readonly name: string;
  /** 0 to 100, or null where the provider does not say. */
  readonly usedPercent: number | null;
  readonly windowDurationMins: number | null;
  /** Epoch seconds. */
  readonly resetsAt: number | null;
  readonly resetsAtIso: string | null;
}

/**
 * Remembers what turns were told. `limits.tell([limitWindow('primary', 12, 300, 1_766_000_000)]);
 * limits.read().status // 'live'`
 */
export interface LimitsMemory {
  report(windows: readonly LimitWindow[], accountPlan?: string): void;
  read(): EngineLimits;
  /** Epoch ms of the latest reset of a window that is used up. */
  resetAt(): number | undefined;
}

const staleMs = 1_800_000;
const askMsMax = 3_000;

/** Told less long ago than this is `live`. */
const freshMs = 300_000;

export function limitsMemory(source: string, now: () => number = Date.now): LimitsMemory {
  let reported:
    | { readonly at: number; readonly windows: readonly LimitWindow[]; readonly accountPlan?: string }
    | undefined;
  return {
    report(windows, accountPlan) {
      const names = new Set(windows.map(({ name }) => name));
      // a provider tells one window at a time; those it did not mention still stand
      const others = (reported?.windows ?? []).filter(({ name }) => !names.has(name));
      reported = {
        at: now(),
        windows: [...others, ...windows].slice(-20),
        ...(accountPlan === undefined ? {} : { accountPlan }),
      };
    },
    read() {
      if (reported === undefined) return { status: 'static', source: 'configuration' };
      return {
        status: now() - reported.at < freshMs ? 'live' : 'cached',
        source,
        refreshedAt: new Date(reported.at).toISOString(),
        windows: reported.windows,
        ...(now() - reported.at > staleMs ? { stale: true } : {}),
        ...(reported.accountPlan === undefined ? {} : { accountPlan: reported.accountPlan }),
      };
    },
    resetAt() {
      const resets = (reported?.windows ?? []).filter(
        ({ usedPercent, resetsAt }) =>
          resetsAt !== null && resetsAt * 1000 > now() && (usedPercent ?? 0) >= 100,
      );
      return resets.length === 0
        ? undefined
        : Math.max(...resets.map(({ resetsAt }) => (resetsAt ?? 0) * 1000));
    },
  };
}

/**
 * What an engine knows; one that throws or takes too long is `error`, one that cannot know is `unsupported`.
 */
export async function limitsOf(engine: {
  readonly name: string;
  limits?(): Promise<EngineLimits>;
}): Promise<EngineLimits> {
  if (engine.limits === undefined)
    return {
      status: 'unsupported',
      source: 'engine',
      unsupportedReason: `Engine "${engine.name}" does not report limits.`,
    };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<EngineLimits>((resolve) => {
    timer = setTimeout(
      () => resolve(limitsFault(`It did not answer within ${askMsMax / 1000} s.`)),
      askMsMax,
    );
  });
  try {
    return await Promise.race([engine.limits(), late]);
  } catch (error) {
    return limitsFault(error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}

export const limitsFault = (error: string): EngineLimits => ({ status: 'error', source: 'engine', error });

/** A window of a limit; `resetsAt` in epoch seconds. */
export function limitWindow(
  name: string,
  usedPercent: number | null,
  windowDurationMins: number | null,
  resetsAt: number | null,
): LimitWindow {
  const isDate = resetsAt !== null && Number.isFinite(resetsAt) && Math.abs(resetsAt) < 8.64e12;
  return {
    name,
    usedPercent: usedPercent === null ? null : Math.min(100, Math.max(0, usedPercent)),
    windowDurationMins,
    resetsAt: isDate ? resetsAt : null,
    resetsAtIso: isDate ? new Date(resetsAt * 1000).toISOString() : null,
  };
}
