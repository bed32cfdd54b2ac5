import type { Call } from './call.ts'

/** A call as route passes it on. */
export type RouteCall = Call & {
  /** Set where every endpoint is out of order: an open breaker lets it pass. */
  readonly insist?: boolean | undefined
}
