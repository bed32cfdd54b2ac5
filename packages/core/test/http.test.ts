import http from 'node:http'
import type { AddressInfo } from 'node:net'
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

const getFailure = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)
const blockNumber = { method: 'eth_blockNumber' }
const transaction = { method: 'eth_sendRawTransaction', params: ['0x02'] }

for (const [httpClient, options] of Object.entries({ 'node:http': {}, fetch: { fetch: globalThis.fetch } })) {
  describe(`http through ${httpClient}`, () => {
    test('posts one JSON-RPC 2.0 request to the URL with the key', async () => {
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

    test('returns the result unchanged, null included', async () => {
      const transport = createTransport({ url: server.url, ...options })
      for (const result of [null, false, 0, '', [], { a: [{ b: '0x1' }] }, 'é\u{1f511}\u0000']) {
        server.script = reply(result)
        expect(await transport.request(blockNumber)).toEqual(result)
      }
      transport.close()
    })

    test('reads responses in chunks that split characters, and gzip', async () => {
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

    test('keeps connections alive, and sends each call with its own id', async () => {
      const transport = createTransport({ url: server.url, ...options })
      for (let n = 0; n < 5; n++) await transport.request(blockNumber)
      // undici opens a second one while it is still putting the first one back.
      expect(new Set(server.seen.map(({ connection }) => connection)).size).toBeLessThan(3)
      expect(new Set(server.seen.map(({ json }) => json.id)).size).toBe(5)
      transport.close()
    })

    test('matches responses to calls in any order', async () => {
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
      expect(await getFailure(transport.request(blockNumber))).toMatchObject({ kind: 'badResponse', retryable: false })
      expect(other.seen).toEqual([])
      transport.close()
      await other.close()
    })

    test('ends the request when the call is aborted or times out', async () => {
      let gone = 0
      server.script = (_, response) => response.on('close', () => gone++)
      useFakeClock()
      const transport = createTransport({ url: server.url, ...options })
      const controller = new AbortController()
      const aborted = getFailure(transport.request(blockNumber, { signal: controller.signal }))
      const late = getFailure(transport.request({ method: 'eth_gasPrice' }, { timeoutMs: 60 }))
      await until(() => server.seen.length === 2)
      controller.abort('enough')
      expect(await aborted).toBe('enough')
      await vi.advanceTimersByTimeAsync(60)
      expect(await late).toMatchObject({ kind: 'timeout' })
      await until(() => gone === 2)
      transport.close()
    })

    test('reports a node on another chain than chainId, from its header and from eth_chainId', async () => {
      const transport = createTransport({ url: server.url, chainId: 7, ...options })
      server.script = reply('0x7')
      expect(await transport.request({ method: 'eth_chainId' })).toBe('0x7')
      server.script = reply('0x8')
      const fromResult = await getFailure(transport.request({ method: 'eth_chainId' }))
      expect(fromResult).toMatchObject({ kind: 'wrongNetwork', retryable: false })
      expect(String(fromResult)).toMatch(/chain 8.*chainId.*7/)
      server.script = (seen, response, socket) => reply('0x1')(seen, response.setHeader('x-chain-id', '8'), socket)
      expect(await getFailure(transport.request(blockNumber))).toMatchObject({ kind: 'wrongNetwork' })
      server.script = (seen, response, socket) => reply('0x1')(seen, response.setHeader('x-chain-id', '7'), socket)
      expect(await transport.request(blockNumber)).toBe('0x1')
      // No requests were sent other than those of the caller.
      expect(server.seen).toHaveLength(4)
      transport.close()
    })

    test('calls a key function for each attempt, so that a rotated key is used immediately', async () => {
      const keys = ['the-first-of-the-keys', 'the-second-of-the-keys']
      let reads = 0
      server.script = (seen, response, socket) =>
        server.seen.length === 1 ? response.writeHead(503).end() : reply('0x1')(seen, response, socket)
      const transport = createTransport({
        rpcUrl: server.url,
        apiKey: async () => keys[reads++] as string,
        retry: { baseMs: 1 },
        ...options,
      })
      expect(await transport.request(blockNumber)).toBe('0x1')
      expect(server.seen.map(({ path }) => path)).toEqual(keys.map((key) => `/${key}`))
      transport.close()
    })

    test('fails with a kind if the key function fails, and sends nothing', async () => {
      const apiKey = async (): Promise<string> => {
        throw new Error('vault is sealed')
      }
      const transport = createTransport({ rpcUrl: server.url, apiKey, ...options })
      expect(await getFailure(transport.request(blockNumber))).toMatchObject({
        kind: 'invalidRequest',
        source: 'client',
      })
      const never = createTransport({
        rpcUrl: server.url,
        apiKey: () => new Promise(() => {}),
        timeoutMs: 50,
        ...options,
      })
      expect(await getFailure(never.request(blockNumber))).toMatchObject({ kind: 'timeout' })
      expect(server.seen).toEqual([])
    })

    test('reports a rejected connection as a retryable network error', async () => {
      const { url } = server
      await server.close()
      const transport = createTransport({ url, retry: false, ...options })
      expect(await getFailure(transport.request(blockNumber))).toMatchObject({
        kind: 'network',
        source: 'transport',
        retryable: true,
      })
      transport.close()
    })
  })
}

describe('http through node:http', () => {
  /** Responds once, and then closes the keep-alive connection when the next request arrives on it. */
  const closesWhenReused = (): Script => {
    const used = new Set<number>()
    return (seen, response, socket) => {
      if (used.has(seen.connection)) socket.resetAndDestroy()
      else reply(seen.json.method)(seen, response, socket)
      used.add(seen.connection)
    }
  }

  test('resends a read immediately if the server had closed the keep-alive connection', async () => {
    server.script = closesWhenReused()
    const transport = createTransport({ url: server.url, retry: false })
    for (let n = 0; n < 5; n++) expect(await transport.request(blockNumber)).toBe('eth_blockNumber')
    expect(server.seen).toHaveLength(9)
    transport.close()
  })

  test('does not resend a transaction in that case, because it may have arrived', async () => {
    server.script = closesWhenReused()
    const transport = createTransport({ url: server.url })
    await transport.request(blockNumber)
    expect(await getFailure(transport.request(transaction))).toMatchObject({ kind: 'network', retryable: false })
    expect(server.seen).toHaveLength(2)
    transport.close()
  })

  test('resends a transaction if the connection was rejected', async () => {
    const { url } = server
    await server.close()
    const transport = createTransport({ url, retry: { retries: 1, baseMs: 1 } })
    expect(await getFailure(transport.request(transaction))).toMatchObject({ kind: 'network', retryable: true })
    transport.close()
  })

  test('uses the agent option', async () => {
    const agent = new http.Agent({ keepAlive: true, localAddress: '127.0.0.1' })
    const transport = createTransport({ url: server.url, agent })
    expect(await transport.request(blockNumber)).toBe('0x1')
    expect(Object.values(agent.freeSockets).flat()).toHaveLength(1)
    transport.close()
    agent.destroy()
  })

  test("goes through the proxy of Node's own switch, NODE_USE_ENV_PROXY, except to the hosts of NO_PROXY", async () => {
    const seen: (string | undefined)[] = []
    const proxy = http.createServer((request, response) => {
      seen.push(request.url)
      request.resume().on('end', () => response.end('{"jsonrpc":"2.0","id":1,"result":"0xproxy"}'))
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const { port } = proxy.address() as AddressInfo
    const { globalAgent } = http
    const request = (url: string): Promise<unknown> => {
      const transport = createTransport({ url, retry: false })
      return transport.request(blockNumber).finally(transport.close)
    }
    // What Node does at its start.
    const proxyEnv = { HTTP_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: '127.0.0.1' }
    http.globalAgent = new http.Agent({ keepAlive: true, proxyEnv } as http.AgentOptions)
    try {
      expect(await request('http://node.example/rpc')).toBe('0xproxy')
      expect(seen).toEqual(['http://node.example/rpc'])
      expect(await request(server.url)).toBe('0x1')
      expect(seen).toHaveLength(1)
    } finally {
      http.globalAgent.destroy()
      http.globalAgent = globalAgent
      proxy.closeAllConnections()
      proxy.close()
    }
  })

  test('fails with a kind if the agent is for the wrong protocol', async () => {
    const transport = createTransport({ url: 'https://127.0.0.1:1', agent: new http.Agent(), retry: false })
    expect(await getFailure(transport.request(blockNumber))).toMatchObject({
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

describe('http through a fetch that misbehaves', () => {
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
  ])('one that %s causes a failure with a kind', async (_, fetch) => {
    const transport = createTransport({ url: server.url, fetch: fetch as never, retry: false })
    expect(await getFailure(transport.request(blockNumber))).toMatchObject({
      kind: expect.stringMatching(/network|badResponse/),
    })
  })

  test('one that throws synchronously is not called again after an abort', async () => {
    let called = 0
    const fetch = (): never => {
      called++
      throw new Error('no')
    }
    useFakeClock()
    const transport = createTransport({ url: server.url, fetch, retry: { baseMs: 200 } })
    const controller = new AbortController()
    const call = getFailure(transport.request(blockNumber, { signal: controller.signal }))
    await until(() => called === 1)
    controller.abort('enough')
    expect(await call).toBe('enough')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(called).toBe(1)
    transport.close()
  })

  test('one that never settles causes a timeout', async () => {
    const transport = createTransport({ url: server.url, fetch: () => new Promise(() => {}), timeoutMs: 50 })
    expect(await getFailure(transport.request(blockNumber))).toMatchObject({ kind: 'timeout' })
  })

  test('one that does not decode brotli causes a failure', async () => {
    const fetch = async (): Promise<Response> =>
      new Response(brotliCompressSync('{"jsonrpc":"2.0","id":1,"result":"0x1"}'))
    const transport = createTransport({ url: server.url, fetch, retry: false })
    expect(await getFailure(transport.request(blockNumber))).toMatchObject({ kind: 'badResponse' })
  })
})
