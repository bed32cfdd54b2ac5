import { isResponseStatus, readResponse } from './readResponse.ts'
import type { NodeResponse } from './readResponse.ts'
import type { Upstream } from './createUpstream.ts'

const maxResponseBytes = 2 * 1024 * 1024

/**
 * How a query ended. `unreachable`: nothing listens there. `failing`: no valid response arrived in time. `skipped`: it was not sent, because the
 * upstream's budget of the day is used up.
 */
export type QueryResult = NodeResponse | 'unreachable' | 'failing' | 'skipped'

/**
 * Sends a call of the gateway's own to an upstream, for a health check for example.
 * @param query.params - Source text.
 * @param timeoutMs - In milliseconds.
 * @param onFailure - Called with the reason if the result is `unreachable` or `failing`. It contains nothing that the node sent.
 */
export const queryUpstream = (
  upstream: Upstream,
  query: { method: string; params: string },
  timeoutMs: number,
  onFailure?: (reason: string) => void,
): Promise<QueryResult> =>
  new Promise((resolve) => {
    const fail = (result: 'unreachable' | 'failing', reason: string): void => {
      onFailure?.(reason)
      resolve(result)
    }
    if (!upstream.hasRoomForQuery()) {
      resolve('skipped')
      return
    }
    let stop = (): void => {}
    const timer = setTimeout(() => {
      stop()
      fail('failing', `no response in ${timeoutMs} ms`)
    }, timeoutMs)
    stop = upstream.post({
      body: `{"jsonrpc":"2.0","id":1,"method":"${query.method}","params":${query.params}}`,
      budget: { left: maxResponseBytes },
      probe: true,
      done: (fault, response, code = 'unknown error') => {
        clearTimeout(timer)
        if (response === undefined)
          return fault === 'unsent'
            ? fail('unreachable', `cannot connect (${code})`)
            : fail('failing', `no complete response (${fault === 'broken' ? code : fault})`)
        if (!isResponseStatus(response.status)) return fail('failing', `HTTP ${response.status}`)
        const read = readResponse(response.body, '1')
        return read === undefined ? fail('failing', 'the response is not JSON-RPC') : resolve(read)
      },
    })
  })

/** Gets the number from a query's result; `undefined` if it has none, or one that a double cannot represent exactly. */
export const getQuantity = (result: QueryResult): number | undefined =>
  typeof result === 'string' || result.member !== 'result' ? undefined : parseQuantity(result.value.toString('latin1'))

/** Parses the number in the source text of a JSON string such as `"0x1f"`. */
export const parseQuantity = (source: string): number | undefined => {
  const digits = /^"(0x[0-9a-fA-F]{1,16})"$/.exec(source)?.[1]
  const value = digits === undefined ? NaN : Number(digits)
  return Number.isSafeInteger(value) ? value : undefined
}
