import { createTransport, isKeyrailError, webSocket } from '@keyrail/core'
import { oddResponses } from '@keyrail/vectors'
import type { OddResponseCase } from '@keyrail/vectors'
import { startOddResponseServer, toBodyBytes } from '@keyrail/vectors/oddResponseServer'
import { afterAll, describe, expect, test } from 'vitest'
import { httpClients } from './faults/httpClients.ts'
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

  test.each(cases.filter((odd) => odd.webSocket))('is read alike over a WebSocket: $name', async (odd) => {
    socketServer.script = ({ id, send }) => send(toBodyBytes(odd.response, id).toString())
    const options = { url: socketServer.url, webSocket: webSocket({ requests: true }) }
    expect(await getOutcome(odd, options)).toMatchObject(odd.expect)
  })
})
