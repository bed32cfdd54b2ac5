import type { GroupMember } from '../groupMember.ts'
import { confirmEntries } from './confirmEntries.ts'
import { confirmLogs } from './confirmLogs.ts'
import type { ConfirmationEnd, ConfirmationTask, ConfirmOptions, Progress } from './confirmationTask.ts'
import { hasRoom } from './networkStoreParts.ts'

/** Calls come first: a node with more of them in flight is not asked. */
const maxInFlight = 16
/** The part of a daily limit that is left to calls. */
const callsPart = 1 / 2

/**
 * Confirms what nodes have sent: ranges in which they have found no logs, because a node that still indexes finds none, and what is stored is stored for
 * ever; with `cache.confirm` everything, by nodes of other groups. Without it, a single node confirms its empty ranges ten minutes later. No node is asked
 * again for what it could not confirm, and each pair of nodes has its turn.
 */
export const confirmStored = async (options: ConfirmOptions): Promise<ConfirmationEnd> => {
  const { turn } = options
  const pairs = getPairs(options)
  const start = turn.next % Math.max(1, pairs.length)
  let end: ConfirmationEnd = 'idle'
  for (const { source, member } of [...pairs.slice(start), ...pairs.slice(0, start)]) {
    turn.next = (turn.next + 1) % pairs.length
    const task = { source, member, progress: getProgress(options, source, member), options }
    const ends = [await confirmLogs(task), options.store.confirm ? await confirmEntries(task) : 'idle']
    if (ends.includes('more')) return 'more'
    if (ends.includes('failed')) end = 'failed'
  }
  return end
}

/** Gets which node can be asked now to confirm what which one has sent. */
const getPairs = ({ members, store }: ConfirmOptions): readonly Pick<ConfirmationTask, 'source' | 'member'>[] =>
  members.flatMap((source) => {
    const isOther = (member: GroupMember): boolean =>
      store.confirm ? member.group !== source.group : member !== source && hasRoom(member, 'eth_getLogs')
    const others = members.filter((member) => isOther(member) && isFree(member))
    // For the first of them, the range may not be final yet.
    const chosen = others.length === 0 && !store.confirm && isFree(source) ? [source] : others
    return chosen.map((member) => ({ source, member }))
  })

const isFree = ({ health, upstream, backoff, budget }: GroupMember): boolean =>
  health.isHealthy() &&
  !backoff.isPaused() &&
  upstream.inFlight() <= maxInFlight &&
  budget.states().every(({ name, limit, left }) => !name.endsWith('PerDay') || left >= limit * callsPart)

const getProgress = ({ progress }: ConfirmOptions, source: GroupMember, member: GroupMember): Progress => {
  const own = progress.get(source) ?? new Map<GroupMember, Progress>()
  progress.set(source, own)
  const known = own.get(member) ?? { logsAt: 0, entry: 0 }
  own.set(member, known)
  return known
}
