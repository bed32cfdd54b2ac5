import type { IncomingMessage } from 'node:http'
import type { AllowList } from '../../auth/allowList/compileAllowList.ts'
import type { Tenant } from '../../auth/key/tenant.ts'
import type { RejectionReason } from '../../errors/rejection.ts'
import type { BufferedBytes } from '../../lib/memoryBudget.ts'
import type { Network } from '../../lib/network.ts'
import type { RequestTrace } from '../requestTracer.ts'
import type { SubscriptionCalls } from '../upstream/subscriptionCalls.ts'
import type { CheckedCall, StopCalls } from '../upstream/callResult.ts'
import type { NetworkContext } from './networkContext.ts'
import type { InvalidCall, ParsedCall } from './parsedCall.ts'
import type { ResponseContent } from './responseParts.ts'

/** A request: one over HTTP from its header on, or a message of a WebSocket. Only `caller/` knows which of them it is. */
export interface RequestContext {
  readonly caller: Caller
  readonly reply: Reply
  readonly requestId: string
  /** As `performance.now()` counts. */
  readonly startedAt: number
  /** The values for the log, the metrics and the response headers. */
  readonly facts: RequestFacts
  /** How much memory it holds. */
  readonly buffered: BufferedBytes
  /** `undefined` if it is not traced. */
  trace: RequestTrace | undefined
  /** The caller has disconnected: nothing can be written. */
  gone: boolean
  /** Stops what is in flight for this request. `undefined`: nothing is, or only a write, which is counted when it ends. */
  cancel: StopCalls | undefined
}

/** The head of the caller's HTTP request; for a message, of the one that opened its WebSocket. */
export type Caller = Pick<IncomingMessage, 'headers' | 'url' | 'socket'>

/** How a caller gets the response to a request. */
export interface Reply {
  /** As the request log names it. */
  readonly transport: 'http' | 'websocket'
  /** Whether a result may be streamed to the caller. Otherwise it is buffered. */
  readonly streams: boolean
  /** Whether the caller finds its calls by their ids, also if the whole body is rejected. */
  readonly matchesIds: boolean
  /** Handles `eth_subscribe` and `eth_unsubscribe`; `undefined` if the request cannot subscribe. */
  readonly subscriptions: SubscriptionCalls | undefined
  /** Whether a call that only keeps the connection open is free now. If so, the next one is only after some seconds. */
  readonly takeKeepAlive: () => boolean
  /** Continues once the rest of the body has been read: left unread, it would be taken for the next request. */
  readonly afterBody: (context: RequestContext, then: () => void) => void
  /** Sends the response. Call it once. */
  readonly send: (context: RequestContext, content: ResponseContent) => void
}

/** The state of a request. Each step adds its results, so that a request that ends early is logged and counted with the results so far. */
export interface RequestFacts {
  network: Network | undefined
  /** The owner of its key. */
  tenant: Tenant | undefined
  /** The chain of its network, once its key is known to be enabled for it. */
  chainId: number | undefined
  /** The method as the metrics name it; `batch` for a batch. */
  method: string | undefined
  /** How many calls it holds. */
  calls: number | undefined
  /** The methods of a batch's calls, as the metrics name them. */
  methods: readonly string[] | undefined
  /** The ids of its calls as source text: a list for a batch, `undefined` for a notification, and `null` before they are known. */
  ids: string | undefined | readonly (string | undefined)[]
  /** The newest block that the key's callers have seen. */
  block: number | undefined
  /** Response headers with what is left of the key's limits. */
  limitHeaders: readonly string[] | undefined
  /** Why it was rejected; of a batch, why its first rejected call was. */
  reason: RejectionReason | undefined
  /** The size of its body in bytes, once it is read. */
  bodyBytes: number | undefined
  /** What the limits charged each of its calls, in units, and the UTC day that they charged; `undefined`: nothing. */
  charged: { readonly units: number[]; readonly day: string | undefined } | undefined
  /** Whether its calls have been counted. */
  metered: boolean
  /** Health checks are neither logged nor counted: load balancers and probes send several a second. */
  isHealthCheck: boolean
}

/** A request whose key, or token, may call this network. */
export interface AuthorizedRequest {
  readonly context: RequestContext
  readonly tenant: Tenant
  readonly network: NetworkContext
  /** The permissions of its token. They narrow the allow list of the app. */
  readonly tokenAllowList: AllowList | undefined
}

/** A request whose calls were checked, each on its own. */
export interface CheckedRequest extends AuthorizedRequest {
  /** Whether its body is a list. */
  readonly isBatch: boolean
  readonly calls: readonly (ParsedCall | InvalidCall)[]
  /** For each call, in the same order, the call to forward or why it is rejected. */
  readonly checked: CheckedCall[]
}
