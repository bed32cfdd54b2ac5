import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AllowList } from '../../auth/allowList/compileAllowList.ts'
import type { Tenant } from '../../auth/key/tenant.ts'
import type { RejectionReason } from '../../errors/rejection.ts'
import type { BufferedBytes } from '../../lib/memoryBudget.ts'
import type { Network } from '../../lib/network.ts'
import type { RequestTrace } from '../requestTracer.ts'
import type { SubscriptionCalls } from '../subscription/subscriptionCalls.ts'
import type { BodyPart } from './responseParts.ts'
import type { NetworkContext } from './networkContext.ts'

/** A request: one over HTTP from its header on, or a message of a WebSocket. */
export type RequestContext = HttpRequestContext | MessageContext

interface BaseContext {
  /** For a message, the HTTP request that opened the WebSocket. */
  readonly request: IncomingMessage
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
  /** Stops the reads in flight for this request. */
  cancel: (() => void) | undefined
}

/** A request over HTTP. */
export interface HttpRequestContext extends BaseContext {
  readonly response: ServerResponse
  readonly message: undefined
}

/** A message of a WebSocket. */
export interface MessageContext extends BaseContext {
  readonly response: undefined
  readonly message: MessageExchange
}

/** Receives the response to a message. */
export interface MessageExchange {
  /** Sends the response, or none if there is no body: to notifications of JSON-RPC. Call it once. */
  readonly send: (body: string | readonly BodyPart[] | undefined) => void
  /**
   * The ids of its calls as source text: a list for a batch, `undefined` for a notification, and `null` before it is parsed. Callers match the
   * rejection of a whole message by them.
   */
  callIds: string | undefined | readonly (string | undefined)[]
  /** Whether a call that only keeps the connection open is free now. If so, the next one is only after some seconds. */
  readonly takeKeepAlive: () => boolean
  /** Handles `eth_subscribe` and `eth_unsubscribe`; `undefined` if the network has no subscriptions. */
  readonly subscriptions: SubscriptionCalls | undefined
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
  /** The newest block that the key's callers have seen. */
  block: number | undefined
  /** Response headers with what is left of the key's limits. */
  limitHeaders: readonly string[] | undefined
  /** Why it was rejected; of a batch, why its first rejected call was. */
  reason: RejectionReason | undefined
  /** The size of its body in bytes, once it is read. */
  bodyBytes: number | undefined
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
