import type { GroupMember } from '../groupMember.ts'
import { confirmEntries } from './confirmEntries.ts'
import { confirmLogs } from './confirmLogs.ts'
import type { ConfirmationEnd, ConfirmOptions, Progress } from './confirmationTask.ts'
import { hasRoom } from './networkStoreParts.ts'

/** Calls come first: a node with more of them in flight is not asked. */
const maxInFlight = 16
const tryAgainMs = 60 * 60_000

/**
 * Confirms what nodes have sent: ranges in which they have found no logs, because a node that still indexes finds none, and what is stored is stored for
 * ever; with `cache.confirm` everything, by nodes of other groups. Without it, a single node confirms its empty ranges ten minutes later.
 */
export const confirmStored = async (options: ConfirmOptions): Promise<ConfirmationEnd> => {
  const { members, store } = options
  let end: ConfirmationEnd = 'idle'
  for (const source of members) {
    const isOther = (member: GroupMember): boolean =>
      store.confirm ? member.group !== source.group : member !== source && hasRoom(member, 'eth_getLogs')
    const others = members.filter((member) => isOther(member) && isFree(member))
    // For the first of them, the range may not be final yet.
    for (const member of others.length === 0 && !store.confirm && isFree(source) ? [source] : others) {
      const task = { source, member, progress: getProgress(options, source, member), options }
      const ends = [await confirmLogs(task), store.confirm ? await confirmEntries(task) : 'idle']
      if (ends.includes('more')) return 'more'
      if (ends.includes('failed')) end = 'failed'
    }
  }
  return end
}

const isFree = ({ health, upstream, backoff }: GroupMember): boolean =>
  health.isHealthy() && !backoff.isPaused() && upstream.inFlight() <= maxInFlight

const getProgress = ({ progress }: ConfirmOptions, source: GroupMember, member: GroupMember): Progress => {
  const own = progress.get(source) ?? new Map<GroupMember, Progress>()
  progress.set(source, own)
  const known = own.get(member)
  if (known !== undefined && performance.now() - known.startedAt < tryAgainMs) return known
  const started = { logsAt: 0, entry: 0, startedAt: performance.now() }
  own.set(member, started)
  return started
}
