export { adapters } from './adapterCases.ts'
export type {
  AdapterAct,
  AdapterBatchEntry,
  AdapterCase,
  AdapterEnd,
  AdapterNode,
  AdapterResponse,
} from './adapterCases.ts'
export { batches } from './batchCases.ts'
export type { BatchCase, BatchCaseCall } from './batchCases.ts'
export {
  codesAndWords,
  failures,
  fresh,
  heldOut,
  rangeHints,
  repeatables,
  retryAfters,
  wordings,
} from './failureCases.ts'
export type {
  CodesAndWords,
  FailureCase,
  Implementation,
  RangeHintCase,
  RepeatableCase,
  RetryAfterCase,
} from './failureCases.ts'
export { methods } from './methodCases.ts'
export type { MethodCase } from './methodCases.ts'
export { oddResponses } from './oddResponses.ts'
export type { Framing, OddResponseCase } from './oddResponses.ts'
export { budgets, caches, routes } from './transportCases.ts'
export type { BudgetCase, CacheCase, RouteCase, VectorFacts, VectorResponse } from './transportCases.ts'
export { chains } from './chains.ts'
export type { ChainFixtures, ErrorFixture, FixtureOrigin, ResultFixture } from './chains.ts'
export type { Json } from './json.ts'
