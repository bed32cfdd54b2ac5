import type { EndpointUrlOptions } from '../../endpoint/endpointUrlOptions.ts'
import type { ExpectedChain } from '../../message/findChainMismatch.ts'
import type { WebSocketFeature } from '../../socket/webSocket.ts'
import type { BatchFeature } from '../batch.ts'
import type { Guarded } from '../breaker.ts'
import type { BudgetFeature, Budgeted } from '../budget.ts'
import { limitConcurrency } from './limitConcurrency.ts'
import type { ConcurrencyOptions } from './limitConcurrency.ts'
import { http } from './http.ts'
import type { Endpoint, HttpOptions } from './http.ts'

/** An endpoint that is ready for calls, and the chain that it must be on, if that was configured. */
export interface OpenEndpoint extends Endpoint, Partial<Budgeted>, Partial<Guarded> {
  readonly chainId: number | undefined
}

/** How one of several endpoints differs from a single one. */
export interface OwnParts {
  /** @default the budget of the transport */
  readonly budget?: BudgetFeature | undefined
  readonly breaker?: (<E extends Endpoint>(endpoint: E) => E & Guarded) | undefined
}

/** Opens an endpoint with its own connections, queue, batches, circuit breaker and budget. */
export type EndpointOpener = (address: EndpointUrlOptions, own?: OwnParts) => OpenEndpoint

/** Options that hold for every endpoint. */
export interface SharedParts extends HttpOptions, ConcurrencyOptions {
  readonly batch?: BatchFeature<never> | undefined
  readonly budget?: BudgetFeature | undefined
  readonly webSocket?: WebSocketFeature | undefined
}

/**
 * Creates the function that opens endpoints. A call passes the budget first, then the circuit breaker, the batch, the concurrency limit and HTTP. With
 * `webSocket({ requests: true })`, WebSocket takes the place of HTTP, and there are no batches.
 *
 * @param shared - What all endpoints have in common.
 * @param anyChain - The chain of the endpoints that have no `chainId`.
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and how to fix it. So does the function it returns.
 */
export function createOpener(shared: SharedParts, anyChain: ExpectedChain): EndpointOpener {
  const { fetch, agent, maxResponseBytes, maxInFlight, maxWaitMs, batch, webSocket } = shared
  const limit = limitConcurrency({ maxInFlight, maxWaitMs })
  return (address, own) => {
    const { budget = shared.budget, breaker } = own ?? {}
    const posting = http(address, { fetch, agent, maxResponseBytes }, anyChain)
    const sending =
      webSocket?.open(address, posting, { maxResponseBytes, isOneOfSeveral: own !== undefined }) ?? posting
    const limited = limit(sending)
    const joined: Endpoint = batch && !webSocket?.requests ? batch.wrap(limited) : limited
    const broken = breaker ? breaker(joined) : joined
    const guarded = webSocket?.bypass(broken, limited) ?? broken
    return { ...(budget ? budget(guarded) : guarded), chainId: posting.chain.id }
  }
}
