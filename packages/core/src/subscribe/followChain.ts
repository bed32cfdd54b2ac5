import { now } from '../clock/now.ts'
import { pause } from '../clock/pause.ts'
import type { RpcSocket } from '../socket/rpcSocket.ts'
import type { Poll, Polled } from './chainPoller.ts'
import type { ChainSource } from './chainSource.ts'
import { followByPolling } from './followByPolling.ts'
import { followSocket, isCursorTooOld, isUnsupported } from './followSocket.ts'
import { createHeadSignal } from './headSignal.ts'
import type { PollSchedule } from './pollSchedule.ts'
import type { RecentChain } from './recentChain.ts'
import { createRecovery } from './recovery.ts'
import type { AnyEvent } from './reportBlock.ts'
import type { SubscriptionOptions } from './subscription.ts'

/** Options of {@link followChain}. */
export interface FollowOptions {
  readonly chain: RecentChain
  readonly source: ChainSource
  readonly poll: Poll
  readonly schedule: PollSchedule
  /** The connections, if the transport has any. */
  readonly socket: RpcSocket | undefined
  readonly signal: AbortSignal
  readonly reorgDepth: number
  readonly options: SubscriptionOptions
}

/**
 * Follows the chain for as long as the consumer takes events. There are three ways, all with the same events:
 *
 * - A service of Keyrail sends them over a socket, from where the chain ends. The rest is polled: blocks below the ones that it
 *   remembers, and the time in which there is no connection.
 * - A socket of another server only says when to poll.
 * - Without a socket, polls follow the block time.
 */
export async function* followChain(follow: FollowOptions): AsyncGenerator<AnyEvent, void, undefined> {
  const { chain, source, poll, schedule, socket, signal, reorgDepth, options } = follow
  const { pollingIntervalMs, onError } = options
  const recovery = createRecovery(schedule, signal, onError)
  const polling = { poll, recovery, signal }
  if (!socket) return yield* followByPolling(polling)

  const pollToHead = (): AsyncGenerator<AnyEvent, void, undefined> =>
    followByPolling({ ...polling, isOver: ({ atHead }) => atHead })
  const pollFor = (ms: number): AsyncGenerator<AnyEvent, void, undefined> => {
    const until = now() + ms
    const wait = ({ waitMs }: Polled): Promise<void> => pause(Math.min(waitMs, Math.max(until - now(), 0)), signal)
    return followByPolling({ ...polling, wait, isOver: () => now() >= until })
  }
  const socketRecovery = createRecovery(schedule, signal, onError)
  /** How often in a row the service had none of the cursor's blocks. */
  let gaps = 0
  const onStart = (): void => {
    socketRecovery.succeeded()
    gaps = 0
  }
  // So that the subscription starts now, however long it takes to find out what the server can do.
  if (!chain.newest()) yield* pollToHead()
  for (;;) {
    try {
      yield* followSocket({ socket, chain, source, reorgDepth, signal, onStart })
    } catch (error) {
      if (isUnsupported(error)) break
      if (!isCursorTooOld(error)) yield* pollFor(socketRecovery.failed(error))
      else {
        // The service may itself be behind.
        if (gaps++ > 0) yield* pollFor(schedule.afterFailure(gaps))
        yield* pollToHead()
      }
    }
  }
  yield* followByPolling({ ...polling, wait: createHeadSignal(socket, signal, pollingIntervalMs !== undefined) })
}
