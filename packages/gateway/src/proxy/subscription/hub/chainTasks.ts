import type { ChainStart, ChainStep, FollowedBlock, FollowedLog } from '../followedChain.ts'
import type { Channel, Channels, Connection, Group } from './createChannels.ts'
import type { Delivery } from './createDelivery.ts'
import { createLogIndex } from './createLogIndex.ts'
import type { LogIndex } from './createLogIndex.ts'
import { toPositionEnd, toResultEnd } from './notification.ts'

/** A log subscription in cursor mode gets a position at each block whose number is a multiple of this, even without matching logs. */
const positionInterval = 16
/** The logs of one step of matching. */
const logsPerStep = 16

/** The ends of the notifications of logs, by group. */
type MatchedLogs = ReadonlyMap<Group, Buffer[]>

/** @param isRemoved - Whether the logs are delivered as removed: only plain subscriptions are. */
function* matchLogs(
  index: LogIndex<Group>,
  logs: readonly FollowedLog[],
  isRemoved: boolean,
): Generator<number, MatchedLogs> {
  const matched = new Map<Group, Buffer[]>()
  for (const [at, log] of logs.entries()) {
    let end: Buffer | undefined
    index.match(log, (group) => {
      if (isRemoved && group.isInCursorMode) return
      end ??= toResultEnd(isRemoved ? log.text.replace('"removed":false', '"removed":true') : log.text)
      const ends = matched.get(group)
      if (ends === undefined) matched.set(group, [end])
      else ends.push(end)
    })
    if (at % logsPerStep === 0) yield 0
  }
  return matched
}

const isMilestone = ({ number }: FollowedBlock): boolean => number % positionInterval === 0

/** The logs of a block that a subscription gets. @param logs - The ends of those that match. */
const toBlockEnds = (group: Group, block: FollowedBlock, logs: readonly Buffer[] = []): readonly Buffer[] =>
  group.isInCursorMode && (logs.length > 0 || isMilestone(block)) ? [...logs, toPositionEnd(block)] : logs

function* deliverBlock(block: FollowedBlock, channels: Channels, delivery: Delivery): Generator<number, void> {
  const head = [toResultEnd(block.header)]
  for (const group of channels.groups('newHeads')) yield* delivery.add(group, head)
  const matched = yield* matchLogs(channels.index, block.logs ?? [], false)
  for (const [group, logs] of matched) yield* delivery.add(group, toBlockEnds(group, block, logs))
  if (isMilestone(block)) {
    const position = [toPositionEnd(block)]
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
  for (const { logs = [] } of removed) {
    const matched = yield* matchLogs(channels.index, logs.toReversed(), true)
    for (const [group, ends] of matched) yield* delivery.add(group, ends)
    yield* delivery.flush()
  }
  const position = [toPositionEnd(ancestor)]
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
  delivery.addFor(connection, channel, [toPositionEnd(position)])
  yield* delivery.flush()
  for (const block of blocks) {
    const matched = yield* matchLogs(index, block.logs ?? [], false)
    const ends =
      request.kind === 'newHeads' ? [toResultEnd(block.header)] : toBlockEnds(group, block, matched.get(group))
    if (ends.length > 0) delivery.addFor(connection, channel, ends)
    yield* delivery.flush()
  }
}
