import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import type { Send, Settle } from './call.ts'
import { createCall } from './createCall.ts'
import { onCancel } from './onCancel.ts'
import type { RouteCall } from './routeCall.ts'
import { setBelow } from './waits.ts'

/** A question that is under way, and who waits for its answer. */
interface Question extends RouteCall {
  readonly askers: Map<RouteCall, Settle>
}

/**
 * Lets the calls that wait for the head of the same endpoint share one `eth_blockNumber`, which ends when the last of them leaves.
 *
 * @param carry - The endpoint.
 * @returns Asks on behalf of a call, whose `cancel` then leaves the question.
 */
export function createHeadQuery(send: Send): Send {
  let question: Question | undefined
  return (call: RouteCall, settle) => {
    const joined = question
    const asked: Question = (question ??= {
      ...createCall('eth_blockNumber', '[]', { priority: call.options.priority }),
      note: call.note,
      bypassesBreaker: call.bypassesBreaker,
      askers: new Map(),
    })
    asked.askers.set(call, settle)
    setBelow(call, asked)
    onCancel(call, (reason) => {
      asked.askers.delete(call)
      if (asked.askers.size === 0) {
        if (question === asked) question = undefined
        asked.ended = true
        asked.cancel?.(reason)
      }
      settle(false, reason)
    })
    if (joined) return
    send(asked, (ok, value) => {
      if (question === asked) question = undefined
      asked.cancel = undefined
      // Each has a failure of its own, which a caller may keep: its message says what was asked, and its method what the caller asked.
      for (const [{ method }, give] of asked.askers)
        give(ok, isKeyrailError(value) ? new KeyrailError(value.message, { ...value, method }) : value)
    })
  }
}
