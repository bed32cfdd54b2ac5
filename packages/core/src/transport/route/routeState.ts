import type { FailureKind } from '../../failure/failureKind.ts'
import type { Send } from '../call/call.ts'
import type { EndpointChoice } from './endpointChoice.ts'
import type { Heads } from './heads.ts'
import type { Hedging } from './hedging.ts'
import type { RouteEndpoint } from './routeOptions.ts'

/** State that the calls of a route share. */
export interface RouteState {
  readonly endpoints: readonly RouteEndpoint[]
  readonly choice: EndpointChoice
  readonly heads: Heads
  /** Requests the head of each endpoint. */
  readonly headQueries: readonly Send[]
  /** How each endpoint failed last. */
  readonly lastKinds: (FailureKind | undefined)[]
  readonly hedging: Hedging | undefined
  readonly attemptTimeoutMs: number | undefined
  readonly acceptableWaitMs: number
}
