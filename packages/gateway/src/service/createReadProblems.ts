import { findProblems } from '../alerts/findProblems.ts'
import type { Problem } from '../alerts/findProblems.ts'
import { toNetworkStatuses } from '../control/views/toNetworkStatuses.ts'
import type { Network } from '../lib/network.ts'
import type { UpstreamState } from '../proxy/upstream/groupMember.ts'
import type { CallRates } from './createCallRates.ts'
import { readDisks } from './createReadInstance.ts'
import type { InstanceSources } from './createReadInstance.ts'

/** What the problems of the service are found in. */
export interface ProblemSources extends Pick<InstanceSources, 'files' | 'certificateEndsAt'> {
  /** The names of the stores that are unavailable. */
  readonly lostStores: () => readonly string[]
  readonly networks: () => readonly Network[]
  readonly upstreams: () => readonly Pick<UpstreamState, 'network' | 'status'>[]
  readonly rates: Pick<CallRates, 'readRecent'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The share of failed calls is that of this many minutes. */
const recentMinutes = 5

/** Creates the function that finds the problems of the service, as this instance sees them. */
export const createReadProblems =
  (sources: ProblemSources): (() => Promise<readonly Problem[]>) =>
  async () => {
    const { lostStores, networks, upstreams, rates, files, certificateEndsAt, now } = sources
    return findProblems(
      {
        lostStores: lostStores(),
        networksWithoutNode: toNetworkStatuses(networks(), upstreams(), new Set())
          .filter(({ nodes }) => nodes.healthy === 0)
          .map(({ network }) => network),
        disks: await readDisks(files),
        certificateEndsAt: certificateEndsAt(),
        calls: rates.readRecent(recentMinutes),
      },
      now(),
    )
  }
