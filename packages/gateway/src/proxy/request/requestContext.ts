import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AllowList } from '../../auth/allowList/compileAllowList.ts'
import type { Tenant } from '../../auth/key/tenant.ts'
import type { RejectionReason } from '../../errors/rejection.ts'
import type { BufferedBytes } from '../../lib/memoryBudget.ts'
import type { Network } from '../../lib/network.ts'
import type { NetworkContext } from './networkContext.ts'

/** One HTTP request, from its header on. */
export interface RequestContext {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** As `performance.now()` counts. */
  readonly startedAt: number
  /** What the log, the metrics and the response's headers say of it. */
  readonly facts: RequestFacts
  /** How much memory it holds. */
  readonly buffered: BufferedBytes
  /** The caller has disconnected: nothing can be written. */
  gone: boolean
  /** Stops the reads in flight for this request. */
  cancel: (() => void) | undefined
}

/** What is known of a request so far. Each step adds what it found, so that a request that ends early is logged and counted as far as it came. */
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
  /** Whether its calls have been counted. */
  metered: boolean
}

/** A request whose key, or token, may call this network. */
export interface AuthorizedRequest {
  readonly context: RequestContext
  readonly tenant: Tenant
  readonly network: NetworkContext
  /** What its token allows. It narrows the allow list of the app. */
  readonly tokenAllowList: AllowList | undefined
}
