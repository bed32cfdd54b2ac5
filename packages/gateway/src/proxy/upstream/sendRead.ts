import type { SendCall, SendOptions } from '../call/callScope.ts'
import type { CallDone } from './callResult.ts'
import { forwardRead } from './logs/forwardLogs.ts'
import { cacheResult } from './sharedRead.ts'
import { waitForSlot } from './waitForSlot.ts'

const always = (): boolean => true

/** Forwards a read, which others may join while it is in flight if it may lead, and caches its result. */
export const sendRead: SendCall = (call, scope, options, done) => {
  const { group, streams } = scope
  const { read, mayLead } = options
  if (read === undefined) return forwardRead(call, scope, { ...options, mayStream: streams ? always : undefined }, done)
  const forwardAndCache = (own: SendOptions, received: CallDone): (() => void) =>
    forwardRead(call, scope, own, (result, member) => {
      cacheResult(read, result, { group, member })
      received(result, member)
    })
  if (mayLead !== true) return forwardAndCache(options, done)
  const lead = (own: SendOptions): (() => void) =>
    group.inFlightReads.run(
      read.key,
      scope,
      {
        start: ({ sent, mayStream, done: received }) =>
          forwardAndCache({ deadlineMs: own.deadlineMs, neededHead: own.neededHead, sent, mayStream }, received),
        done,
      },
      own,
    )
  // A read that waits in its key's queue is not in flight yet: followers would have to wait for another key's queue.
  return group.queue.hasSlot(scope) ? lead(options) : waitForSlot(scope, options, { run: lead, reject: done })
}
