/**
 * Which faults were met where: fault × operation of the disk × phase of a life. Each seed aims at one cell by its
 * number, so that counting seeds up walks through the whole table.
 */
export const faultNames = ['crash before', 'crash in', 'crash after', 'error', 'full disk', 'slow'] as const;
export type FaultName = (typeof faultNames)[number];

export const phases = ['opening', 'running', 'recovering', 'stopping'] as const;
export type Phase = (typeof phases)[number];

/** What the store does to the disk in each phase of a life, as met in every sixth history at least. */
export const operationsOf: Readonly<Record<Phase, readonly string[]>> = {
  opening: words(`
    base.open base.read base.stat checkpoint.create checkpoint.open checkpoint.read checkpoint.rename checkpoint.stat checkpoint.sync checkpoint.write copy.list copy.mkdir copy.sync-names home.free home.list home.mkdir home.sync-names lock.mkdir lock.open marker.create marker.rename marker.sync marker.write note.create note.open note.read note.rename note.stat note.sync note.write segment.create segment.open segment.read segment.stat segment.sync segment.truncate segment.write tables.close tables.flush tables.get tables.iterate tables.list tables.open tables.remove tables.rename tables.stat tables.write
  `),
  running: words(`
    base.create base.open base.read base.remove base.rename base.stat base.sync base.write checkpoint.create checkpoint.open checkpoint.read checkpoint.rename checkpoint.stat checkpoint.sync checkpoint.write copy.list copy.mkdir copy.sync-names home.free home.sync-names note.remove segment.create segment.open segment.read segment.remove segment.stat segment.sync segment.truncate segment.write tables.flush tables.get tables.iterate tables.write
  `),
  recovering: words(`
    base.open base.read base.stat checkpoint.open checkpoint.read checkpoint.stat copy.list copy.mkdir copy.sync-names home.list home.sync-names segment.create segment.open segment.read segment.stat segment.sync segment.truncate tables.close tables.flush tables.get tables.open tables.remove tables.rename tables.stat tables.write
  `),
  stopping: words(`
    checkpoint.create checkpoint.rename checkpoint.sync checkpoint.write copy.list copy.sync-names home.sync-names lock.close note.remove segment.sync segment.truncate tables.close tables.flush tables.write
  `),
};

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

export interface Cell {
  readonly fault: FaultName;
  readonly operation: string;
  readonly phase: Phase;
}

/** Reading needs no room. */
const needsRoom = /\.(?:create|write|sync|rename|flush|sync-names)$/;

export const cells: readonly Cell[] = phases.flatMap((phase) =>
  operationsOf[phase].flatMap((operation) =>
    faultNames
      .filter((fault) => fault !== 'full disk' || needsRoom.test(operation))
      // A read from memory is not on its way for any time
      .filter(
        (fault) =>
          !operation.endsWith('.get') ||
          (fault !== 'slow' && fault !== 'crash in' && fault !== 'crash after'),
      )
      .map((fault) => ({ fault, operation, phase })),
  ),
);

export class Coverage {
  readonly met = new Map<string, number>();

  hit({ fault, operation, phase }: Cell): void {
    count(this.met, `${fault} × ${operation} × ${phase}`);
  }

  empty(): string[] {
    return cells
      .map(({ fault, operation, phase }) => `${fault} × ${operation} × ${phase}`)
      .filter((name) => !this.met.has(name));
  }

  add(other: Coverage): void {
    for (const [name, times] of other.met) count(this.met, name, times);
  }
}

export function count(into: Map<string, number>, name: string, times = 1): void {
  into.set(name, (into.get(name) ?? 0) + times);
}
