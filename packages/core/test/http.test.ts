import http from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { createTransport } from '@keyrail/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { reply, startFaultServer } from './faultServer.ts'
import type { FaultServer, Script } from './faultServer.ts'
import { until, useFakeClock } from './useFakeClock.ts'

let server: FaultServer
beforeEach(async () => {
  server = await startFaultServer()
})
afterEach(() => {
  vi.useRealTimers()
  return server.close()
})

const failureOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)
const blockNumber = { method: 'eth_blockNumber' }
const transaction = { method: 'eth_sendRawTransaction', params: ['0x02'] }

for (const [httpClient, options] of Object.entries({ 'node:http': {}, fetch: { fetch: globalThis.fetch } })) {
  describe(`http by ${httpClient}`, () => {
    test('posts one JSON-RPC 2.0 request to the keyed address', async () => {
      const transport = createTransport({
        baseUrl: `${server.url}/testnet`,
        apiKey: 'aKeyOfSixteenChr',
        jwt: 'a.b.c',
        ...options,
      })
      expect(await transport.request({ method: 'eth_getBalance', params: ['0xabc', 'latest'] })).toBe('0x1')
      const [seen] = server.seen
      expect(seen?.path).toBe('/testnet/v2/aKeyOfSixteenChr')
      expect(seen?.json).toEqual({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: ['0xabc', 'latest'] })
      expect(seen?.headers).toMatchObject({ 'content-type': 'application/json', authorization: 'Bearer a.b.c' })
      transport.close()
    })

    test('gives the result as it was sent, null included', async () => {
      const transport = createTransport({ url: server.url, ...options })
      for (const result of [null, false, 0, '', [], { a: [{ b: '0x1' }] }, 'é\u{1f511}\u0000']) {
        server.script = reply(result)
        expect(await transport.request(blockNumber)).toEqual(result)
      }
      transport.close()
    })

    test('reads answers in pieces that split characters, and gzip', async () => {
      const transport = createTransport({ url: server.url, ...options })
      const text = 'ключ🔑'.repeat(2_000)
      server.script = ({ json }, response) => {
        const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: json.id, result: text }))
        response.writeHead(200)
        for (let at = 0; at < bytes.length; at += 1_001) response.write(bytes.subarray(at, at + 1_001))
        response.end()
      }
      expect(await transport.request(blockNumber)).toBe(text)
      server.script = ({ json }, response) =>
        response
          .writeHead(200, { 'content-encoding': 'gzip' })
          .end(gzipSync(JSON.stringify({ jsonrpc: '2.0', id: json.id, result: text })))
      expect(await transport.request(blockNumber)).toBe(text)
      transport.close()
    })

    test('keeps connections alive, and gives each call its own id', async () => {
      const transport = createTransport({ url: server.url, ...options })
      for (let n = 0; n < 5; n++) await transport.request(blockNumber)
      // undici opens a second one while it is still putting the first one back.
      expect(new Set(server.seen.map(({ connection }) => connection)).size).toBeLessThan(3)
      expect(new Set(server.seen.map(({ json }) => json.id)).size).toBe(5)
      transport.close()
    })

    test('never gives a call the answer of another, in any order of answers', async () => {
      const held: (() => void)[] = []
      server.script = (seen, response, socket) => {
        held.push(() => reply(seen.json.params[0])(seen, response, socket))
        if (held.length === 20) for (const release of held.reverse()) release()
      }
      const transport = createTransport({ url: server.url, ...options })
      const calls = Array.from({ length: 20 }, (_, n) =>
        transport.request({ method: 'eth_getBalance', params: [`0x${n}`] }),
      )
      expect(await Promise.all(calls)).toEqual(Array.from({ length: 20 }, (_, n) => `0x${n}`))
      transport.close()
    })

    test('does not follow a redirect', async () => {
      const other = await startFaultServer()
      server.script = (_, response) => response.writeHead(307, { location: other.url }).end()
      const transport = createTransport({ url: server.url, ...options })
      expect(await failureOf(transport.request(blockNumber))).toMatchObject({ kind: 'badResponse', retryable: false })
      expect(other.seen).toEqual([])
      transport.close()
      await other.close()
    })

    test('ends the request when the call is aborted or late', async () => {
      let gone = 0
      server.script = (_, response) => response.on('close', () => gone++)
      useFakeClock()
      const transport = createTransport({ url: server.url, ...options })
      const controller = new AbortController()
      const aborted = failureOf(transport.request(blockNumber, { signal: controller.signal }))
      const late = failureOf(transport.request({ method: 'eth_gasPrice' }, { timeoutMs: 60 }))
      await until(() => server.seen.length === 2)
      controller.abort('enough')
      expect(await aborted).toBe('enough')
      await vi.advanceTimersByTimeAsync(60)
      expect(await late).toMatchObject({ kind: 'timeout' })
      await until(() => gone === 2)
      transport.close()
    })

    test('tells when the node is on another chain than chainId says, by its header and by eth_chainId', async () => {
      const transport = createTransport({ url: server.url, chainId: 7, ...options })
      server.script = reply('0x7')
      expect(await transport.request({ method: 'eth_chainId' })).toBe('0x7')
      server.script = reply('0x8')
      const byAnswer = await failureOf(transport.request({ method: 'eth_chainId' }))
      expect(byAnswer).toMatchObject({ kind: 'wrongNetwork', retryable: false })
      expect(String(byAnswer)).toMatch(/chain 8.*chainId.*7/)
      server.script = (seen, response, socket) => reply('0x1')(seen, response.setHeader('x-chain-id', '8'), socket)
      expect(await failureOf(transport.request(blockNumber))).toMatchObject({ kind: 'wrongNetwork' })
      server.script = (seen, response, socket) => reply('0x1')(seen, response.setHeader('x-chain-id', '7'), socket)
      expect(await transport.request(blockNumber)).toBe('0x1')
      // Nothing was ever asked beyond what the caller asked.
      expect(server.seen).toHaveLength(4)
      transport.close()
    })

    test('asks a key function for each attempt, so that a rotated key is used at once', async () => {
      const keys = ['the-first-of-the-keys', 'the-second-of-the-keys']
      let asked = 0
      server.script = (seen, response, socket) =>
        server.seen.length === 1 ? response.writeHead(503).end() : reply('0x1')(seen, response, socket)
      const transport = createTransport({
        rpcUrl: server.url,
        apiKey: async () => keys[asked++] as string,
        retry: { baseMs: 1 },
        ...options,
      })
      expect(await transport.request(blockNumber)).toBe('0x1')
      expect(server.seen.map(({ path }) => path)).toEqual(keys.map((key) => `/${key}`))
      transport.close()
    })

    test('fails by name where the key function does, and sends nothing', async () => {
      const apiKey = async (): Promise<string> => {
        throw new Error('vault is sealed')
      }
      const transport = createTransport({ rpcUrl: server.url, apiKey, ...options })
      expect(await failureOf(transport.request(blockNumber))).toMatchObject({
        kind: 'invalidRequest',
        source: 'client',
      })
      const never = createTransport({
        rpcUrl: server.url,
        apiKey: () => new Promise(() => {}),
        timeoutMs: 50,
        ...options,
      })
      expect(await failureOf(never.request(blockNumber))).toMatchObject({ kind: 'timeout' })
      expect(server.seen).toEqual([])
    })

    test('names a refused connection, and knows that nothing was sent', async () => {
      const { url } = server
      await server.close()
      const transport = createTransport({ url, retry: false, ...options })
      expect(await failureOf(transport.request(blockNumber))).toMatchObject({
        kind: 'network',
        source: 'transport',
        retryable: true,
      })
      transport.close()
    })
  })
}

describe('http by node:http', () => {
  /** Answers once, then closes the kept-alive connection just when the next request comes on it. */
  const closesWhenReused = (): Script => {
    const used = new Set<number>()
    return (seen, response, socket) => {
      if (used.has(seen.connection)) socket.resetAndDestroy()
      else reply(seen.json.method)(seen, response, socket)
      used.add(seen.connection)
    }
  }

  test('sends a read again at once where the server had closed the kept-alive connection', async () => {
    server.script = closesWhenReused()
    const transport = createTransport({ url: server.url, retry: false })
    for (let n = 0; n < 5; n++) expect(await transport.request(blockNumber)).toBe('eth_blockNumber')
    expect(server.seen).toHaveLength(9)
    transport.close()
  })

  test('does not send a transaction again then: whether it arrived is not known', async () => {
    server.script = closesWhenReused()
    const transport = createTransport({ url: server.url })
    await transport.request(blockNumber)
    expect(await failureOf(transport.request(transaction))).toMatchObject({ kind: 'network', retryable: false })
    expect(server.seen).toHaveLength(2)
    transport.close()
  })

  test('sends a transaction again where the connection was refused', async () => {
    const { url } = server
    await server.close()
    const transport = createTransport({ url, retry: { retries: 1, baseMs: 1 } })
    expect(await failureOf(transport.request(transaction))).toMatchObject({ kind: 'network', retryable: true })
    transport.close()
  })

  test('goes through an agent that is given', async () => {
    const agent = new http.Agent({ keepAlive: true, localAddress: '127.0.0.1' })
    const transport = createTransport({ url: server.url, agent })
    expect(await transport.request(blockNumber)).toBe('0x1')
    expect(Object.values(agent.freeSockets).flat()).toHaveLength(1)
    transport.close()
    agent.destroy()
  })

  test('fails by name with an agent of the wrong protocol', async () => {
    const transport = createTransport({ url: 'https://127.0.0.1:1', agent: new http.Agent(), retry: false })
    expect(await failureOf(transport.request(blockNumber))).toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('Protocol "https:" not supported'),
    })
  })

  test('leaves no connection open after close', async () => {
    let open = 0
    const counted = http.createServer((request, response) => {
      request.resume().on('end', () => response.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}'))
    })
    counted.on('connection', (socket) => {
      open++
      socket.on('close', () => open--)
    })
    await new Promise<void>((resolve) => counted.listen(0, '127.0.0.1', resolve))
    const { port } = counted.address() as { port: number }
    const transport = createTransport({ url: `http://127.0.0.1:${port}` })
    await transport.request(blockNumber)
    expect(open).toBe(1)
    transport.close()
    await until(() => open === 0)
    counted.close()
  })
})

describe('http by a fetch that misbehaves', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['gives nothing', async () => undefined],
    ['gives an object that is no response', async () => ({ ok: true })],
    ['rejects with nothing', () => Promise.reject(undefined)],
    ['rejects with a text', () => Promise.reject('no')],
  ])('one that %s gives a named failure', async (_, fetch) => {
    const transport = createTransport({ url: server.url, fetch: fetch as never, retry: false })
    expect(await failureOf(transport.request(blockNumber))).toMatchObject({
      kind: expect.stringMatching(/network|badResponse/),
    })
  })

  test('one that throws at once is not called again after an abort', async () => {
    let called = 0
    const fetch = (): never => {
      called++
      throw new Error('no')
    }
    useFakeClock()
    const transport = createTransport({ url: server.url, fetch, retry: { baseMs: 200 } })
    const controller = new AbortController()
    const call = failureOf(transport.request(blockNumber, { signal: controller.signal }))
    await until(() => called === 1)
    controller.abort('enough')
    expect(await call).toBe('enough')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(called).toBe(1)
    transport.close()
  })

  test('one that never settles gives a timeout', async () => {
    const transport = createTransport({ url: server.url, fetch: () => new Promise(() => {}), timeoutMs: 50 })
    expect(await failureOf(transport.request(blockNumber))).toMatchObject({ kind: 'timeout' })
  })

  test('one that leaves brotli to us is not believed', async () => {
    const fetch = async (): Promise<Response> =>
      new Response(brotliCompressSync('{"jsonrpc":"2.0","id":1,"result":"0x1"}'))
    const transport = createTransport({ url: server.url, fetch, retry: false })
    expect(await failureOf(transport.request(blockNumber))).toMatchObject({ kind: 'badResponse' })
  })
})
