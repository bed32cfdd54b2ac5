import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AllowList } from '../../auth/allowList/compileAllowList.ts'
import type { Tenant } from '../../auth/key/tenant.ts'
import type { Network } from '../../lib/network.ts'
import type { BufferedBytes } from '../../lib/memoryBudget.ts'
import type { RejectionReason } from '../../errors/rejection.ts'

/** One HTTP request on its way to its answer. */
export interface RequestContext {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly startedAt: number
  network: Network | undefined
  /** Whose key it came with, once that is known. */
  tenant: Tenant | undefined
  /** What the request's token allows, beside the app's own list. */
  narrowing: AllowList | undefined
  /** Of the network, once the key is known to be good for it. */
  chainId: number | undefined
  method: string | undefined
  items: number | undefined
  /** Of a batch, what each call is counted as. */
  labels: readonly string[] | undefined
  /** What is left of the key's limits, as headers. */
  limitHeaders: readonly string[] | undefined
  /** Its calls are counted. */
  metered: boolean
  reason: RejectionReason | undefined
  /** What it has in memory. */
  readonly kept: BufferedBytes
  /** The caller went away: nothing is to be written. */
  gone: boolean
  /** Stops the reads in flight for this request. */
  cancel: (() => void) | undefined
}
