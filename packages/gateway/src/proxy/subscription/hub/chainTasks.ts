import type { ChainStart, ChainStep, FollowedBlock, FollowedLog } from '../followedChain.ts'
import type { Channel, Channels, Connection, Audience, Notifications } from './createChannels.ts'
import type { Delivery } from './createDelivery.ts'
import { createLogIndex, matchesFilter } from './createLogIndex.ts'
import type { LogIndex } from './createLogIndex.ts'
import { toPositionEnd, toResultEnd } from './notification.ts'

/** A log subscription in cursor mode gets a position at each block whose number is a multiple of this, even without matching logs. */
const positionInterval = 16
/** The logs of one step of matching. */
const logsPerStep = 16

/** Which logs of a list an audience matches: how many, and where the first and the last of them are. A list of them could be large for each of many audiences. */
interface Matches {
  count: number
  readonly first: number
  last: number
}

/** @param isRemoved - Whether the logs are delivered as removed: only plain subscriptions are. */
function* countMatches(
  index: LogIndex<Audience>,
  logs: readonly FollowedLog[],
  isRemoved: boolean,
): Generator<number, ReadonlyMap<Audience, Matches>> {
  const matched = new Map<Audience, Matches>()
  for (const [at, log] of logs.entries()) {
    yield* index.match(log, (audience) => {
      if (isRemoved && audience.isInCursorMode) return
      const matches = matched.get(audience)
      if (matches === undefined) matched.set(audience, { count: 1, first: at, last: at })
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
  { request }: Audience,
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
const toBlockNotifications = (
  audience: Audience,
  block: FollowedBlock,
  logs: Notifications | undefined,
): Notifications => {
  const { count, toEnds } = logs ?? { count: 0, toEnds: () => [] }
  if (!audience.isInCursorMode || (count === 0 && !isMilestone(block))) return { count, toEnds }
  return { count: count + 1, toEnds: () => [...toEnds(), toPositionEnd(block)] }
}

function* deliverBlock(block: FollowedBlock, channels: Channels, delivery: Delivery): Generator<number, void> {
  const { logs = [] } = block
  const head = one(toResultEnd(block.header))
  for (const audience of channels.audiences('newHeads')) yield* delivery.add(audience, head)
  const matched = yield* countMatches(channels.index, logs, false)
  const getEnd = createLogEnds(logs, false)
  for (const [audience, matches] of matched)
    yield* delivery.add(
      audience,
      toBlockNotifications(audience, block, toNotifications(audience, { logs, getEnd }, matches)),
    )
  if (isMilestone(block)) {
    const position = one(toPositionEnd(block))
    for (const audience of channels.audiences('logs'))
      if (audience.isInCursorMode && !matched.has(audience)) yield* delivery.add(audience, position)
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
    for (const [audience, matches] of matched)
      yield* delivery.add(audience, toNotifications(audience, { logs, getEnd }, matches))
    yield* delivery.flush()
  }
  const position = one(toPositionEnd(ancestor))
  for (const kind of ['newHeads', 'logs'] as const) {
    for (const audience of channels.audiences(kind))
      if (audience.isInCursorMode) yield* delivery.add(audience, position)
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
  const { audience } = channel
  const { request } = audience
  const index = createLogIndex<Audience>()
  if (request.kind === 'logs') index.add(request.filter, audience)
  delivery.addFor(connection, channel, one(toPositionEnd(position)))
  yield* delivery.flush()
  for (const block of blocks) {
    const { logs = [] } = block
    const matches = (yield* countMatches(index, logs, false)).get(audience)
    const getEnd = createLogEnds(logs, false)
    const found = matches && toNotifications(audience, { logs, getEnd }, matches)
    const notifications =
      request.kind === 'newHeads' ? one(toResultEnd(block.header)) : toBlockNotifications(audience, block, found)
    if (notifications.count > 0) delivery.addFor(connection, channel, notifications)
    yield* delivery.flush()
  }
}
