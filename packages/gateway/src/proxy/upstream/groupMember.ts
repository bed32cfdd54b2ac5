import type { Finality } from './createFinality.ts'
import type { Upstream } from './createUpstream.ts'
import type { Health } from './watchHealth.ts'

/** An upstream and what is known of it. */
export interface GroupMember {
  /** What logs and metrics call it. */
  readonly name: string
  readonly upstream: Upstream
  readonly health: Health
  readonly finality: Finality
}
