// What tests and benchmarks of other packages use of the gateway, beside what it exports.
export type { ServiceConfigInput } from '../src/service/serviceConfig.ts'
export type { LimitGrant, LimitRequest } from '../src/usage/limits/usageLimits.ts'
export { createMemoryKeyStore } from './createMemoryKeyStore.ts'
export { createTestGateway } from './createTestGateway.ts'
export type { TestGateway, TestOptions } from './createTestGateway.ts'
