import { mayHoldResponse } from './mayHoldResponse.ts'
import { readResponse } from './readResponse.ts'
import type { NodeResponse } from './readResponse.ts'
import type { Upstream } from './createUpstream.ts'

const maxResponseBytes = 2 * 1024 * 1024

/** How a question of our own ended. `unreachable`: nothing listens there. `failing`: no answer that can be believed came in time. */
export type AskEnd = NodeResponse | 'unreachable' | 'failing'

/**
 * Asks an upstream something of our own, no caller's.
 * @param question.params - Source text.
 * @param timeoutMs - How long it may take, in milliseconds.
 */
export const queryUpstream = (
  upstream: Upstream,
  question: { method: string; params: string },
  timeoutMs: number,
): Promise<AskEnd> =>
  new Promise((resolve) => {
    let stop = (): void => {}
    const timer = setTimeout(() => {
      stop()
      resolve('failing')
    }, timeoutMs)
    stop = upstream.post({
      body: `{"jsonrpc":"2.0","id":1,"method":"${question.method}","params":${question.params}}`,
      budget: { left: maxResponseBytes },
      probe: true,
      done: (fault, answer) => {
        clearTimeout(timer)
        if (answer === undefined) resolve(fault === 'unsent' ? 'unreachable' : 'failing')
        else resolve((mayHoldResponse(answer.status) ? readResponse(answer.body, '1') : undefined) ?? 'failing')
      },
    })
  })

/** The number that a node gave as a result, or `undefined` where it gave none that fits a double exactly. */
export const quantityOf = (end: AskEnd): number | undefined =>
  typeof end === 'string' || end.member !== 'result' ? undefined : quantityIn(end.value.toString('latin1'))

/** The number in the source text of a JSON string, as in `"0x1f"`. */
export const quantityIn = (source: string): number | undefined => {
  const digits = /^"(0x[0-9a-fA-F]{1,16})"$/.exec(source)?.[1]
  const value = digits === undefined ? NaN : Number(digits)
  return Number.isSafeInteger(value) ? value : undefined
}
