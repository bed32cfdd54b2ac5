import http from 'node:http'
import { Readable } from 'node:stream'
import { createTransport } from '@keyrail/core'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { startFaultServer } from './faultServer.ts'

const server = await startFaultServer()
afterAll(() => server.close())

interface Init {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string
}

/** Posts like node-fetch: the body of its response is a stream of Node. */
const nodeFetch = (url: string, { method, headers, body }: Init): Promise<object> =>
  new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers }, (incoming) => {
      const text = async (): Promise<string> => {
        let whole = ''
        for await (const chunk of incoming.setEncoding('utf8')) whole += String(chunk)
        return whole
      }
      resolve({ status: incoming.statusCode, headers: new Headers(), body: incoming, text })
    })
    request.on('error', reject).end(body)
  })

/** Creates a `fetch` that adds a body of another type to a response that has a text. */
const withBody = (body: unknown) => async (url: string, init: Init) => ({
  ...(await nodeFetch(url, init)),
  ...(body !== undefined && { body }),
})

const transaction = { method: 'eth_sendRawTransaction', params: ['0x02'] }
const open = (fetch: unknown, options = {}): ReturnType<typeof createTransport> =>
  createTransport({ url: server.url, fetch: fetch as typeof globalThis.fetch, ...options })

describe('a given fetch whose response has a body that is no web stream', () => {
  test.each<[string, unknown]>([
    ['a stream of Node, as with node-fetch', undefined],
    ['a stream of Node without data', Readable.from([])],
    ['null', null],
    ['a string', 'the text'],
    ['bytes', new Uint8Array([1])],
    ['an object whose getReader is no function', { getReader: true }],
  ])('is read by its text: %s', async (_, body) => {
    server.seen.length = 0
    expect(await open(withBody(body)).request(transaction)).toBe('0x1')
    expect(server.seen).toHaveLength(1)
  })

  test('is limited to maxResponseBytes', async () => {
    const call = open(nodeFetch, { maxResponseBytes: 10 }).request(transaction)
    await expect(call).rejects.toMatchObject({
      kind: 'badResponse',
      retryable: false,
      message: expect.stringContaining('the response is larger than maxResponseBytes (10)'),
    })
  })
})

test('a given fetch works on a platform without Request, such as jsdom', async () => {
  vi.stubGlobal('Request', undefined)
  try {
    expect(await open(nodeFetch).request(transaction)).toBe('0x1')
  } finally {
    vi.unstubAllGlobals()
  }
})
