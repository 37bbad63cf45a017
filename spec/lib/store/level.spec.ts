import { storeContract } from '../../../lib/testing/store-contract.js';
import { openLevelStore } from '../../../lib/store/level.js';
import { newHome } from './homes.js';

storeContract('openLevelStore', async () => openLevelStore({ directory: await newHome() }));
