import type { Finality } from './createFinality.ts'
import type { Upstream } from './createUpstream.ts'
import type { Health } from './watchHealth.ts'

/** An upstream of a group, with its health and its finalized block. */
export interface GroupMember {
  /** Its name in logs and metrics. */
  readonly name: string
  readonly upstream: Upstream
  readonly health: Health
  readonly finality: Finality
}
