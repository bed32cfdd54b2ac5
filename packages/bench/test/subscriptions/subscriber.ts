import { createSubscription } from '@keyrail/core'
import type { Hex, SubscriptionOptions, Transport } from '@keyrail/core'

/** What to subscribe to. */
export type Wanted =
  | { readonly blocks: true }
  | { readonly logs: { readonly address?: readonly Hex[]; readonly topics?: readonly (Hex | null)[] } }

/** A block or a log, as a program stores it. */
export interface Applied {
  readonly number: number
  /** The hash of the block, for a log with its index. */
  readonly place: string
}

/** A program that subscribes, stores what it gets together with the cursor, and can be restarted. */
export interface Subscriber {
  readonly wanted: Wanted
  /** Its results: what was reported and not undone. */
  readonly applied: readonly Applied[]
  /** What contradicts the promise: an event that does not continue those before, or an error that ended the subscription. */
  readonly problems: readonly string[]
  /** How many events, reorganizations and failures were reported, and how often it was started. */
  readonly counts: {
    readonly events: number
    readonly reorgs: number
    readonly failures: number
    readonly starts: number
  }
  /** Ends the subscription and starts another one from the stored cursor. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** The place of a log, by which it is compared. */
export const toLogPlace = (blockHash: string, logIndex: number): string => `${blockHash}/${logIndex}`

/** Starts a subscriber. */
export const startSubscriber = (
  transport: Transport,
  wanted: Wanted,
  options: SubscriptionOptions = {},
): Subscriber => {
  const applied: Applied[] = []
  const problems: string[] = []
  const counts = { events: 0, reorgs: 0, failures: 0, starts: 0 }
  let cursor: string | undefined
  let isStopped = false
  const addBlock = (number: number, hash: string, parentHash: string): void => {
    const newest = applied.at(-1)
    if (newest !== undefined && (newest.place !== parentHash || newest.number !== number - 1))
      problems.push(`block ${number} ${hash} does not continue ${newest.number} ${newest.place}`)
    applied.push({ number, place: hash })
  }
  const addLog = (number: number, place: string): void => {
    const newest = applied.at(-1)
    if (newest !== undefined && newest.number > number)
      problems.push(`a log of block ${number} came after one of block ${newest.number}`)
    if (applied.some((one) => one.place === place)) problems.push(`log ${place} of block ${number} came twice`)
    applied.push({ number, place })
  }
  const undoAbove = (number: number): void => {
    while ((applied.at(-1)?.number ?? -1) > number) applied.pop()
  }

  const run = async (signal: AbortSignal): Promise<void> => {
    counts.starts += 1
    const subscription = createSubscription(transport, wanted, {
      ...options,
      cursor,
      signal,
      onError: () => {
        counts.failures += 1
      },
    })
    try {
      cursor = subscription.cursor()
      for await (const event of subscription) {
        counts.events += 1
        if (event.type === 'reorg') {
          counts.reorgs += 1
          undoAbove(Number(event.ancestor.number))
        } else if (event.type === 'block')
          addBlock(Number(event.header.number), event.header.hash, event.header.parentHash)
        else addLog(Number(event.log.blockNumber), toLogPlace(event.log.blockHash, Number(event.log.logIndex)))
        cursor = subscription.cursor()
      }
    } catch (error) {
      if (!signal.aborted) problems.push(String(error))
    }
  }

  let controller = new AbortController()
  let running = run(controller.signal)
  const stop = async (): Promise<void> => {
    controller.abort()
    await running
  }
  return {
    wanted,
    applied,
    problems,
    counts,
    restart: async () => {
      if (isStopped) return
      await stop()
      controller = new AbortController()
      running = run(controller.signal)
    },
    stop: async () => {
      isStopped = true
      await stop()
    },
  }
}
