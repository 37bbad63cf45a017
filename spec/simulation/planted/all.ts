import { plantedInTheFleet } from './in-the-fleet.js';
import { plantedInTheKernel } from './in-the-kernel.js';
import { plantedInTheStore } from './in-the-store.js';
import type { Planted } from './planted.js';

export const allPlanted: readonly Planted[] = [
  ...plantedInTheKernel,
  ...plantedInTheStore,
  ...plantedInTheFleet,
];
