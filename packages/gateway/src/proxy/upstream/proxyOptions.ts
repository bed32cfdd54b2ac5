import type { ByteBudget } from './createUpstream.ts'
import type { UpstreamGroup } from './createUpstreamGroup.ts'

/** What carrying a call needs of the request that it came in. */
export interface ProxyOptions {
  readonly group: UpstreamGroup
  /** The caller's key, by which its filters and its own changes are told from others'. */
  readonly keyId: string
  /** Who has the key, perhaps with others: what all of them have in flight has a bound. */
  readonly ownerId: string
  /** Of the settings that hold for it; another one whenever they change. */
  readonly keyVersion?: number | undefined
  readonly timeoutMs: number
  readonly deadlineMs?: number | undefined
  /** How many bytes the answers to this request may still have. */
  readonly budget: ByteBudget
  readonly maxResponseBytes: number
  /** Called each time the call is sent to a node, on its own or as another caller's equal read. */
  readonly sent?: (() => void) | undefined
}
