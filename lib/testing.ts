/** What hosts and implementors test with: `troupe/testing`. The contract suites need mocha and chai. */
export { storeContract } from './testing/store-contract.js';
export { engineContract, type EngineContractOptions } from './testing/engine-contract.js';
export { connectorContract, type ConnectorContractOptions } from './testing/connector-contract.js';
export {
  testEnvironment,
  type TestEnvironment,
  type TestEnvironmentOptions,
} from './testing/test-environment.js';
export { faultyStore, type FaultyStore, type Faults } from './store/faulty.js';
