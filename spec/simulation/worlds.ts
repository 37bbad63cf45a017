import { Fleet } from './fleet/fleet.js';
import { Workshop } from './workshop.js';
import type { WorldOf } from './world.js';

const worlds: Readonly<Record<string, WorldOf>> = {
  workshop: (machine) => new Workshop(machine),
  fleet: (machine) => new Fleet(machine),
};

/** Throws a RangeError where there is none of that name. */
export function worldNamed(name: string): WorldOf {
  const world = worlds[name];
  if (world === undefined) throw new RangeError(`--world must be one of ${Object.keys(worlds).join(', ')}`);
  return world;
}
