import { installGlobals } from './globals.js';

// Before anything else is imported: modules that keep `Date.now` keep the simulated one.
installGlobals();
