/** `troupe/level`: the store on disk. */
export { openLevelStore as levelStore, type LevelStore, type LevelStoreOptions } from '../store/level.js';
export type { ThreadOptions } from '../store/thread.js';
