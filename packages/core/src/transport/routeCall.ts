import type { Call } from './call.ts'

/** A call as route passes it on. */
export type RouteCall = Call & {
  /** Set if the circuit breakers of all endpoints are open: the breaker sends the call all the same. */
  readonly bypassesBreaker?: boolean | undefined
}
