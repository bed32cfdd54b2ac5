import type { SendCall, SendOptions } from './callScope.ts'
import type { CallDone } from './callResult.ts'
import { forwardRead } from './logs/forwardLogs.ts'
import { forwardAndStore, forwardStored, respondStored } from './store/forwardStored.ts'
import { cacheResult } from './sharedRead.ts'
import { waitForSlot } from './waitForSlot.ts'

const always = (): boolean => true

/** Forwards a read, which others may join while it is in flight if it may lead, and caches its result. */
export const sendRead: SendCall = (call, scope, options, done) => {
  const { group, streams } = scope
  const { read, mayLead } = options
  const forward = group.store === undefined ? forwardRead : forwardStored
  if (read === undefined) return forward(call, scope, { ...options, mayStream: streams ? always : undefined }, done)
  const forwardAndCache = (send: SendCall, own: SendOptions, received: CallDone): (() => void) =>
    send(call, scope, own, (result, member) => {
      cacheResult(read, result, { group, member })
      received(result, member)
    })
  if (mayLead !== true) return forwardAndCache(forward, options, done)
  const leadOrWait = (send: SendCall, given: SendOptions): (() => void) => {
    const lead = (own: SendOptions): (() => void) =>
      group.inFlightReads.run(
        read.key,
        scope,
        {
          start: ({ sent, mayStream, done: received }) => {
            const { deadlineMs, neededHead } = own
            return forwardAndCache(send, { deadlineMs, neededHead, read, isMissing: true, sent, mayStream }, received)
          },
          done,
        },
        own,
      )
    // A read that waits in its key's queue is not in flight yet: followers would have to wait for another key's queue.
    return group.queue.hasSlot(scope) ? lead(given) : waitForSlot(scope, given, { run: lead, reject: done })
  }
  // Nor is one that is looked up first: the slot may be gone by then, and the same read of another key in flight.
  const send = (own: SendOptions): (() => void) =>
    group.inFlightReads.join(read.key, scope, done, own) ?? leadOrWait(forwardAndStore, own)
  const stop = group.store && respondStored(call, scope, options, { send, done })
  return stop ?? leadOrWait(forward, options)
}
