import type { IncomingMessage, ServerResponse } from 'node:http'
import type { KeyRecord } from '../key/keyStore.ts'
import type { Network } from '../network.ts'
import type { RefusalReason } from '../refusal/refusal.ts'

/** One HTTP request on its way to its answer. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly startedAt: number
  network: Network | undefined
  key: KeyRecord | undefined
  /** Of the network, once the key is known to be good for it. */
  chainId: number | undefined
  method: string | undefined
  items: number | undefined
  reason: RefusalReason | undefined
  /** The caller went away: nothing is to be written. */
  gone: boolean
  /** Stops the reads under way for this request. */
  cancel: (() => void) | undefined
}
