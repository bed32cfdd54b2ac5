import { batch, createTransport, isKeyrailError, webSocket } from '@keyrail/core'
import { oddResponses } from '@keyrail/vectors'
import type { OddResponseCase } from '@keyrail/vectors'
import { startOddResponseServer, toBodyBytes } from '@keyrail/vectors/oddResponseServer'
import { afterAll, describe, expect, test } from 'vitest'
import { httpClients } from './faults/httpClients.ts'
import { getFailure } from './getFailure.ts'
import { startSocketServer } from './socketServer.ts'

const server = await startOddResponseServer()
const socketServer = await startSocketServer()
afterAll(() => Promise.all([server.close(), socketServer.close()]))

const cases = oddResponses.filter(({ appliesTo }) => appliesTo.includes('ts'))

/** What a call ends with: the result, or the facts of its failure. */
const getOutcome = async (
  { method = 'eth_chainId', maxResponseBytes }: OddResponseCase,
  options: Parameters<typeof createTransport>[0],
): Promise<object> => {
  const transport = createTransport({ ...options, maxResponseBytes, retry: false })
  const params = method === 'eth_sendRawTransaction' ? ['0x02'] : []
  const outcome = await transport.request({ method, params }).then(
    (result: unknown) => ({ result }),
    (error: unknown) => {
      if (!isKeyrailError(error)) throw error
      const { kind, source, status, retryAfterMs, retryable } = error
      return { kind, source, status, retryAfterMs, retryable }
    },
  )
  transport.close()
  return outcome
}

describe('an odd response', () => {
  test.each(cases)('is read alike by both HTTP clients: $name', async (odd) => {
    server.response = odd.response
    const [node, fetch] = await Promise.all(
      httpClients.map(([, options]) => getOutcome(odd, { url: server.url, ...options })),
    )
    expect(node).toMatchObject(odd.expect)
    // `fetch` does not report the status of a redirect.
    const { status } = odd.response
    expect(fetch).toEqual(status > 299 && status < 400 ? { ...node, status: undefined } : node)
  })

  const tooLarge = [
    [400, 'invalidRequest'],
    [401, 'auth'],
    [403, 'forbidden'],
    [413, 'invalidRequest'],
    [429, 'throttled'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ] as const
  test.each(tooLarge.flatMap(([status, kind]) => [1, 2].map((size) => [status, kind, size] as const)))(
    'with status %i and a body above maxResponseBytes is of kind %s: our own description is not classified; calls: %i',
    async (status, kind, size) => {
      server.response = { status, headers: [['retry-after', '7']], body: 'x'.repeat(5_000) }
      const outcomes = await Promise.all(
        httpClients.map(async ([, options]) => {
          const transport = createTransport({
            url: server.url,
            ...options,
            maxResponseBytes: 1_000,
            retry: false,
            ...(size > 1 && { batch: batch() }),
          })
          const calls = Array.from({ length: size }, (_, at) =>
            getFailure(transport.request({ method: 'eth_getLogs', params: [{ fromBlock: `0x${at}` }] })),
          )
          const failures = await Promise.all(calls)
          transport.close()
          return failures.map(({ kind, status, retryAfterMs, message }) => ({ kind, status, retryAfterMs, message }))
        }),
      )
      for (const failure of outcomes.flat())
        expect(failure).toMatchObject({ kind, status, retryAfterMs: 7_000, message: expect.stringContaining('(1000)') })
    },
  )

  test.each(cases.filter((odd) => odd.webSocket))('is read alike over a WebSocket: $name', async (odd) => {
    socketServer.script = ({ id, send }) => send(toBodyBytes(odd.response, id).toString())
    const options = { url: socketServer.url, webSocket: webSocket({ requests: true }) }
    expect(await getOutcome(odd, options)).toMatchObject(odd.expect)
  })
})
