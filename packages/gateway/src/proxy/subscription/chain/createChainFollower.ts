import { createPollSchedule } from '@keyrail/core/internal'
import { createBufferedBytes } from '../../../lib/memoryBudget.ts'
import type { BufferedBytes } from '../../../lib/memoryBudget.ts'
import type { UpstreamGroup } from '../../upstream/createUpstreamGroup.ts'
import type { BlockPosition, ChainFollower, ChainStep } from '../followedChain.ts'
import type { NodeSource } from '../nodeSource.ts'
import type { SubscriptionFault } from '../subscriptionHub.ts'
import { getOwnShare } from '../ownReads.ts'
import type { ReadBounds } from '../ownReads.ts'
import { ChainReadError } from './chainNodes.ts'
import type { ChainNodes } from './chainNodes.ts'
import { createBlockLoader } from './createBlockLoader.ts'
import { createChainNodes } from './createChainNodes.ts'
import { createChainRing } from './createChainRing.ts'
import { createLogReader } from './createLogReader.ts'
import { createPause, wait } from './createPause.ts'
import { createStarts } from './createStarts.ts'
import { followHead } from './followHead.ts'

/** How a chain is followed. */
export interface FollowOptions {
  /**
   * Whether to check that the logs of each block are complete. Turn it off for a chain whose blocks have wrong `logsBloom`s and whose nodes lack
   * `eth_getBlockReceipts`: each of its blocks would be delayed by seconds.
   * @default () => true
   */
  readonly checkLogs?: () => boolean
  /** Wakes the follower when a node has a new head. @default none: the head is read by its schedule */
  readonly onHead?: NodeSource['onHead'] | undefined
  /**
   * Called when the steps so far cannot be continued: end all subscriptions. The follower forgets its blocks and continues at the head, so that new
   * subscriptions can start.
   */
  readonly onFault: (reason: Exclude<SubscriptionFault, 'tooManyNotifications'>) => void
  /** Called with each block whose logs were delivered although nothing confirmed that they are complete. */
  readonly onIncompleteLogs?: ((block: BlockPosition) => void) | undefined
  /** The memory of the blocks that subscriptions continue from. @default unlimited */
  readonly memory?: BufferedBytes | undefined
  /** After how many milliseconds `locate` gives up. @default 10_000 */
  readonly locateTimeoutMs?: number | undefined
}

/** Options of `createChainFollower`. */
export interface ChainFollowerOptions extends FollowOptions {
  /** Of each read. At most 5 seconds are used. */
  readonly bounds: ReadBounds
}

/** Without a successful read for this long, subscriptions are ended. */
const maxFailingMs = 60_000
/** After this many failed reads in a row, another node is followed even if the node responds. */
const maxMissing = 3
const defaultLocateTimeoutMs = 10_000
/** The most bytes of the blocks of one network. With larger blocks, subscriptions continue from fewer of them. */
const maxRingBytes = 64 * 1024 * 1024
/** The follower changes to another node after a few failures, so it need not wait long. */
const backoff = { firstBackoffMs: 250, longestBackoffMs: 4_000 }
/** A client that is ahead of this process is waited for at most this long. */
const maxFollowMs = 5_000

/**
 * Creates the follower of a network's chain. It reads from one upstream, and from another one after a failure.
 * @param getGroup - Gets the network's upstreams: a reload replaces them.
 */
export const createChainFollower = (
  getGroup: () => UpstreamGroup | undefined,
  options: ChainFollowerOptions,
): ChainFollower => {
  const { bounds } = options
  const ringBounds = {
    get most() {
      return bounds.maxBufferedBytes
    },
    ownMost: maxRingBytes,
  }
  const memory = createBufferedBytes('chain', ringBounds, getOwnShare())
  return followNodes(createChainNodes(getGroup, bounds), { ...options, memory })
}

/** Creates the follower of the chain of nodes. */
export const followNodes = (nodes: ChainNodes, options: FollowOptions): ChainFollower => {
  const { checkLogs = () => true, onHead, onFault, onIncompleteLogs = () => {} } = options
  const ring = createChainRing(options.memory)
  const loadBelow = createBlockLoader(ring, nodes)
  const readLogs = createLogReader(nodes, { check: checkLogs, onIncomplete: onIncompleteLogs, wait })
  let schedule = createPollSchedule(backoff)
  /** Whether running subscriptions need logs. */
  let areLogsUsed = false
  let stopRun: (() => void) | undefined

  const starts = createStarts({
    ring,
    readLogs,
    loadBelow,
    onLogsStart: () => void (areLogsUsed = true),
    timeoutMs: options.locateTimeoutMs ?? defaultLocateTimeoutMs,
    getMaxFollowMs: () => Math.min(2 * schedule.blockMs(), maxFollowMs),
  })

  const run = async (
    listener: (step: ChainStep) => void,
    signal: AbortSignal,
    pause: ReturnType<typeof createPause>,
  ) => {
    schedule = createPollSchedule(backoff)
    const fail = (reason: Parameters<typeof onFault>[0]): void => {
      ring.clear()
      onFault(reason)
    }
    const poll = followHead({
      ring,
      nodes,
      schedule,
      readLogs,
      needLogs: () => areLogsUsed,
      loadBelow,
      emit: (step) => {
        succeededAt = performance.now()
        listener(step)
        starts.advance()
      },
      signal,
    })
    let failures = 0
    let succeededAt = performance.now()
    while (!signal.aborted) {
      let waitMs: number
      try {
        const result = await poll()
        if (signal.aborted) return
        failures = 0
        succeededAt = performance.now()
        if (result === 'reorgTooDeep') fail(result)
        waitMs = result === 'reorgTooDeep' ? 0 : result
      } catch (error) {
        if (!(error instanceof ChainReadError)) throw error
        if (signal.aborted) return
        failures += 1
        waitMs = schedule.afterFailure(failures)
        // A missing block may only be late.
        const hasMoved = (error.isNodeFailure || failures % maxMissing === 0) && nodes.leave()
        if (hasMoved && failures === 1) waitMs = 0
        if (performance.now() - succeededAt >= maxFailingMs) {
          succeededAt = performance.now()
          fail('nodeUnavailable')
        }
      }
      if (signal.aborted) return
      starts.advance()
      await pause.wait(waitMs)
    }
  }

  return {
    start: (listener) => {
      if (stopRun !== undefined) return
      const controller = new AbortController()
      const pause = createPause()
      const stopListening = onHead?.(() => {
        schedule.expectBlock()
        pause.wake()
      })
      stopRun = () => {
        controller.abort()
        stopListening?.()
        pause.wake()
      }
      void run(listener, controller.signal, pause)
    },
    stop: () => {
      stopRun?.()
      stopRun = undefined
      areLogsUsed = false
      ring.clear()
      starts.end()
    },
    locate: starts.locate,
    releaseLogs: () => void (areLogsUsed = false),
  }
}
