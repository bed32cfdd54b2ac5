import { parseQuantity } from '../../lib/rpc/quantity.ts'
import { failureRules } from './failureRules.ts'
import { readRejection } from './classifyFailure.ts'
import { isResponseStatus, readResponse } from './readResponse.ts'
import type { NodeResponse } from './readResponse.ts'
import type { Upstream } from './createUpstream.ts'

const maxResponseBytes = 2 * 1024 * 1024

/**
 * How a query ended. `unreachable`: nothing listens there. `failing`: no valid response arrived in time. `throttled`: the upstream rejected it for its
 * rate or quota, or said when it is available again. `skipped`: it was not sent, because the upstream is paused, or its budget of the day is used up.
 */
export type QueryResult = NodeResponse | 'unreachable' | 'failing' | 'throttled' | 'skipped'

/**
 * Sends a call of the gateway's own to an upstream, for a health check for example. If the upstream rejects it for its rate, the upstream is paused
 * as after a caller's call.
 * @param query.params - Source text.
 * @param query.evenIfPaused - Whether it is sent although the upstream is paused. @default false
 * @param timeoutMs - In milliseconds.
 * @param onFailure - Called with the reason if the result is `unreachable` or `failing`, which contains nothing that the node sent, and whether the
 * response was too large or too late: a query for less may work.
 */
export const queryUpstream = async (...args: Parameters<typeof sendQuery>): Promise<QueryResult> => {
  const [upstream, { method, evenIfPaused = false }] = args
  if (upstream.backoff.isPaused() && !evenIfPaused) return 'skipped'
  const drawn = upstream.drawForQuery(method)
  // Another call can use in the meantime what was drawn for this one.
  const hasRoom = typeof drawn === 'boolean' ? drawn : (await drawn) && upstream.hasRoomForQuery(method)
  return hasRoom ? sendQuery(...args) : 'skipped'
}

const sendQuery = (
  upstream: Upstream,
  query: { method: string; params: string; evenIfPaused?: boolean },
  timeoutMs: number,
  onFailure?: (reason: string, isTooMuch: boolean) => void,
): Promise<QueryResult> =>
  new Promise((resolve) => {
    const fail = (result: 'unreachable' | 'failing', reason: string, isTooMuch = false): void => {
      onFailure?.(reason, isTooMuch)
      resolve(result)
    }
    let stop = (): void => {}
    const timer = setTimeout(() => {
      stop()
      fail('failing', `no response in ${timeoutMs} ms`, true)
    }, timeoutMs)
    stop = upstream.post({
      body: `{"jsonrpc":"2.0","id":1,"method":"${query.method}","params":${query.params}}`,
      budget: { left: maxResponseBytes },
      probe: true,
      units: upstream.getQueryUnits(query.method),
      done: (fault, response, code = 'unknown error') => {
        clearTimeout(timer)
        if (response === undefined)
          return fault === 'unsent'
            ? fail('unreachable', `cannot connect (${code})`)
            : fail('failing', `no complete response (${fault === 'broken' ? code : fault})`, fault === 'tooLarge')
        const { status, body } = response
        const read = readResponse(body, '1')
        const isAccepted = isResponseStatus(status)
        if (isAccepted && read?.member === 'result') return resolve(read)
        const { kind, retryAfterMs } = readRejection(response, query.method)
        if (failureRules[kind].about === 'load' || (kind === 'unavailable' && retryAfterMs !== undefined)) {
          upstream.backoff.learn({ kind, retryAfterMs })
          return resolve('throttled')
        }
        if (!isAccepted && kind !== 'methodUnavailable') return fail('failing', `HTTP ${status}`)
        return read === undefined ? fail('failing', 'the response is not JSON-RPC') : resolve(read)
      },
    })
  })

/** Gets the number from a query's result; `undefined` if it has none, or one that a double cannot represent exactly. */
export const getQuantity = (result: QueryResult): number | undefined =>
  typeof result === 'string' || result.member !== 'result' ? undefined : parseQuantity(result.value.toString('latin1'))
