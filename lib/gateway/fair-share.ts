/**
 * Long work of many, a slice at a time: one slice runs, then everything else that waits for the processor has its turn,
 * then the next in line. Five hundred watchers that replay the whole log at once are slow to catch up; nobody else
 * notices them.
 * @example const share = fairShare(); while (more) await share(() => nextSlice())
 */
export function fairShare(): FairShare {
  let line: Promise<void> = Promise.resolve();
  return async (slice) => {
    const mine = line.then(slice);
    // A slice that waits for something else must not hold up the line for ever.
    line = Promise.race([mine.then(() => undefined, () => undefined), pause(sliceMsMax)]).then(breath);
    return mine;
  };
}

export type FairShare = <Result>(slice: () => Promise<Result>) => Promise<Result>;

const sliceMsMax = 250;
const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
