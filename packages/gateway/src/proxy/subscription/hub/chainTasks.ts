import type { ChainStart, ChainStep, FollowedBlock, FollowedLog } from '../followedChain.ts'
import type { Channel, Channels, Connection, Group, Notifications } from './createChannels.ts'
import type { Delivery } from './createDelivery.ts'
import { createLogIndex, matchesFilter } from './createLogIndex.ts'
import type { LogIndex } from './createLogIndex.ts'
import { toPositionEnd, toResultEnd } from './notification.ts'

/** A log subscription in cursor mode gets a position at each block whose number is a multiple of this, even without matching logs. */
const positionInterval = 16
/** The logs of one step of matching. */
const logsPerStep = 16

/** Which logs of a list a group matches: how many, and where the first and the last of them are. A list of them could be large for each of many groups. */
interface Matches {
  count: number
  readonly first: number
  last: number
}

/** @param isRemoved - Whether the logs are delivered as removed: only plain subscriptions are. */
function* countMatches(
  index: LogIndex<Group>,
  logs: readonly FollowedLog[],
  isRemoved: boolean,
): Generator<number, ReadonlyMap<Group, Matches>> {
  const matched = new Map<Group, Matches>()
  for (const [at, log] of logs.entries()) {
    yield* index.match(log, (group) => {
      if (isRemoved && group.isInCursorMode) return
      const matches = matched.get(group)
      if (matches === undefined) matched.set(group, { count: 1, first: at, last: at })
      else {
        matches.count += 1
        matches.last = at
      }
    })
    if (at % logsPerStep === 0) yield 0
  }
  return matched
}

/** The ends of the notifications of logs, each created when it is needed first. */
const createLogEnds = (logs: readonly FollowedLog[], isRemoved: boolean): ((at: number) => Buffer) => {
  const ends: Buffer[] = []
  return (at) => {
    const text = logs[at]?.text ?? ''
    return (ends[at] ??= toResultEnd(isRemoved ? text.replace('"removed":false', '"removed":true') : text))
  }
}

const one = (end: Buffer): Notifications => ({ count: 1, toEnds: () => [end] })

const toNotifications = (
  { request }: Group,
  { logs, getEnd }: { readonly logs: readonly FollowedLog[]; readonly getEnd: (at: number) => Buffer },
  { count, first, last }: Matches,
): Notifications => ({
  count,
  toEnds: () => {
    const ends: Buffer[] = []
    for (let at = first; at <= last; at += 1) {
      const log = logs[at]
      if (log !== undefined && request.kind === 'logs' && matchesFilter(request.filter, log)) ends.push(getEnd(at))
    }
    return ends
  },
})

const isMilestone = ({ number }: FollowedBlock): boolean => number % positionInterval === 0

/** What a subscription to logs gets of a block. @param logs - Those that match. */
const toBlockNotifications = (group: Group, block: FollowedBlock, logs: Notifications | undefined): Notifications => {
  const { count, toEnds } = logs ?? { count: 0, toEnds: () => [] }
  if (!group.isInCursorMode || (count === 0 && !isMilestone(block))) return { count, toEnds }
  return { count: count + 1, toEnds: () => [...toEnds(), toPositionEnd(block)] }
}

function* deliverBlock(block: FollowedBlock, channels: Channels, delivery: Delivery): Generator<number, void> {
  const { logs = [] } = block
  const head = one(toResultEnd(block.header))
  for (const group of channels.groups('newHeads')) yield* delivery.add(group, head)
  const matched = yield* countMatches(channels.index, logs, false)
  const getEnd = createLogEnds(logs, false)
  for (const [group, matches] of matched)
    yield* delivery.add(group, toBlockNotifications(group, block, toNotifications(group, { logs, getEnd }, matches)))
  if (isMilestone(block)) {
    const position = one(toPositionEnd(block))
    for (const group of channels.groups('logs'))
      if (group.isInCursorMode && !matched.has(group)) yield* delivery.add(group, position)
  }
  yield* delivery.flush()
}

function* deliverReorg(
  { ancestor, removed }: Extract<ChainStep, { type: 'reorg' }>,
  channels: Channels,
  delivery: Delivery,
): Generator<number, void> {
  for (const { logs: given = [] } of removed) {
    const logs = given.toReversed()
    const matched = yield* countMatches(channels.index, logs, true)
    const getEnd = createLogEnds(logs, true)
    for (const [group, matches] of matched)
      yield* delivery.add(group, toNotifications(group, { logs, getEnd }, matches))
    yield* delivery.flush()
  }
  const position = one(toPositionEnd(ancestor))
  for (const kind of ['newHeads', 'logs'] as const) {
    for (const group of channels.groups(kind)) if (group.isInCursorMode) yield* delivery.add(group, position)
  }
  yield* delivery.flush()
}

/** Delivers a change of the chain to all its subscriptions. */
export const deliverStep = (step: ChainStep, channels: Channels, delivery: Delivery): Generator<number, void> =>
  step.type === 'block' ? deliverBlock(step.block, channels, delivery) : deliverReorg(step, channels, delivery)

/** Delivers what a subscription in cursor mode gets first: where it starts, and the blocks from there on. */
export function* deliverStart(
  { position, blocks }: ChainStart,
  to: { readonly connection: Connection; readonly channel: Channel },
  delivery: Delivery,
): Generator<number, void> {
  const { connection, channel } = to
  const { group } = channel
  const { request } = group
  const index = createLogIndex<Group>()
  if (request.kind === 'logs') index.add(request.filter, group)
  delivery.addFor(connection, channel, one(toPositionEnd(position)))
  yield* delivery.flush()
  for (const block of blocks) {
    const { logs = [] } = block
    const matches = (yield* countMatches(index, logs, false)).get(group)
    const getEnd = createLogEnds(logs, false)
    const found = matches && toNotifications(group, { logs, getEnd }, matches)
    const notifications =
      request.kind === 'newHeads' ? one(toResultEnd(block.header)) : toBlockNotifications(group, block, found)
    if (notifications.count > 0) delivery.addFor(connection, channel, notifications)
    yield* delivery.flush()
  }
}
