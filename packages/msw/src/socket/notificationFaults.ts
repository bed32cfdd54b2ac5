import { checkInteger, describeValue, invalidInput } from '../invalidInput.ts'

/** The kinds of subscriptions of `eth_subscribe`. */
export type SubscriptionKind = 'newHeads' | 'logs' | 'newPendingTransactions' | 'syncing'

/**
 * A fault of a notification: it is never sent (`drop`), sent twice (`duplicate`), sent after `delayMs` (`delay`), or sent after the
 * one that follows it on the connection (`swap`).
 */
export type NotificationFault = 'drop' | 'duplicate' | 'delay' | 'swap'

/** The notifications that have a fault. */
export interface NotificationFaultOptions {
  /** Only notifications of this kind. @default all */
  readonly subscription?: SubscriptionKind | undefined
  /** How many: 1 or more, or Infinity until `clearFaults()`. @default 1 */
  readonly times?: number | undefined
  /** How many are sent correctly before the first one that goes wrong. @default 0 */
  readonly after?: number | undefined
  /** How late `delay` is, in milliseconds. @default 1_000 */
  readonly delayMs?: number | undefined
}

/** The scheduled faults of notifications. */
export interface NotificationFaults {
  /** @returns a function that cancels the fault. */
  readonly add: (fault: NotificationFault, options: NotificationFaultOptions) => () => void
  /** Returns the fault of a notification, if any, and counts it as used. */
  readonly take: (kind: SubscriptionKind) => { readonly fault: NotificationFault; readonly delayMs: number } | undefined
  readonly clear: () => void
}

const faults: readonly NotificationFault[] = ['drop', 'duplicate', 'delay', 'swap']

/** Stores the faults of notifications that a test scheduled, in order. */
export function createNotificationFaults(): NotificationFaults {
  const plan: {
    fault: NotificationFault
    delayMs: number
    kind: SubscriptionKind | undefined
    skip: number
    left: number
  }[] = []
  return {
    add(fault, { subscription, times = 1, after = 0, delayMs = 1_000 }) {
      if (!faults.includes(fault))
        throw invalidInput(`Unknown fault ${describeValue(fault)}. Use one of ${faults.join(', ')}`)
      if (times !== Infinity) checkInteger('times', times, 1)
      checkInteger('after', after, 0)
      checkInteger('delayMs', delayMs, 0)
      const entry = { fault, delayMs, kind: subscription, skip: after, left: times }
      plan.push(entry)
      return () => {
        entry.left = 0
      }
    },
    take(kind) {
      const entry = plan.find((one) => one.left > 0 && (one.kind === undefined || one.kind === kind))
      if (entry === undefined) return undefined
      if (entry.skip > 0) {
        entry.skip--
        return undefined
      }
      entry.left--
      return entry
    },
    clear: () => void plan.splice(0),
  }
}
