import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { controlTime, until } from './controlTime.ts'
import { result } from './fakeUpstream.ts'
import type { SeenCall } from './fakeUpstream.ts'
import { openGateway } from './openGateway.ts'
import { openRaw, postBytes } from './rawConnection.ts'
import { post } from './startGateway.ts'

afterEach(() => {
  vi.useRealTimers()
})

const read = (param: number | string, method = 'eth_call'): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [param] })
const echo = (call: SeenCall): string => result(call, JSON.stringify((call.params as unknown[])[0]))
const halfOpen = (port: number): { socket: Socket; text: Promise<string> } => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return { socket, text: new Promise((resolve) => socket.on('close', () => resolve(text))) }
}

describe('an idle connection', () => {
  const send = `POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`

  test('outlives the timeout of headers, for as long as the config says', async () => {
    const { started } = await openGateway({ bounds: { headersTimeoutMs: 200, keepAliveTimeoutMs: 600_000 } })
    const connection = await openRaw(started.port)
    connection.send(send)
    expect((await connection.next()).headers).toMatchObject({ 'keep-alive': 'timeout=600' })
    // Node looks for late headers every second.
    await setTimeout(1_500)
    connection.send(send)
    expect(await connection.next()).toMatchObject({ headers: { 'keep-alive': 'timeout=600' } })
    connection.destroy()
  })

  test('is closed after that time, which a reload changes', async () => {
    const { started, upstream } = await openGateway()
    const networks = { testnet: { chainId: 31_337, upstreams: [{ url: upstream.url }] } }
    await started.gateway.reload({ networks, bounds: { keepAliveTimeoutMs: 1_000 } })
    const connection = await openRaw(started.port)
    connection.send(send)
    expect((await connection.next()).headers).toMatchObject({ 'keep-alive': 'timeout=1' })
    await connection.ended
  })
})

describe('a pipeline', () => {
  test('of 300 calls has at most four in flight at the node, and gets its responses in order', async () => {
    const { upstream, started, path, rpcUrl } = await openGateway()
    let open = 0
    let maxOpen = 0
    upstream.behave = (call, response) => {
      open += 1
      maxOpen = Math.max(maxOpen, open)
      setImmediate(() => {
        open -= 1
        response.end(echo(call))
      })
      return undefined
    }
    const connection = await openRaw(started.port)
    connection.send(Buffer.concat(Array.from({ length: 300 }, (_, index) => postBytes(path, read(index)))))
    const results: unknown[] = []
    for (let index = 0; index < 300; index += 1)
      results.push((JSON.parse((await connection.next()).body) as { result: number }).result)
    expect(results).toEqual(Array.from({ length: 300 }, (_, index) => index))
    expect(maxOpen).toBeLessThanOrEqual(4)
    // The connection still works, and so do others.
    connection.send(postBytes(path, read('again')))
    expect((await connection.next()).body).toContain('again')
    expect((await post(rpcUrl, read('other'))).text).toContain('other')
    connection.destroy()
  })

  test('that is far too long is cut, and takes no memory from others', async () => {
    const { upstream, started, path, rpcUrl } = await openGateway()
    upstream.behave = (call) => (call.method === 'eth_call' ? undefined : result(call, '"0x1"'))
    const connection = await openRaw(started.port)
    const four = Array.from({ length: 4 }, (_, index) => postBytes(path, read(index)))
    connection.send(Buffer.concat([...four, Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(2_000))]))
    await connection.ended
    const gone = (): number => started.entries.filter(({ event }) => event === 'disconnected').length
    await expect.poll(gone).toBe(4)
    expect((await post(rpcUrl, read('other', 'eth_gasPrice'))).status).toBe(200)
  })

  test('with bodies larger than the read buffer gets its responses too', async () => {
    const { upstream, started, path } = await openGateway()
    upstream.behave = (call, response) => {
      setImmediate(() => response.end(result(call, String((call.params as string[])[0]?.length))))
      return undefined
    }
    const connection = await openRaw(started.port)
    connection.send(
      Buffer.concat(
        Array.from({ length: 12 }, (_, index) => postBytes(path, read('x'.repeat(300_000 + index), 'eth_getLogs'))),
      ),
    )
    for (let index = 0; index < 12; index += 1)
      expect(JSON.parse((await connection.next()).body)).toMatchObject({ result: 300_000 + index })
    connection.destroy()
  })

  test('with a broken chunk after a call gets a response to both', async () => {
    const { upstream, started, path } = await openGateway()
    const held: (() => void)[] = []
    upstream.behave = (call, response) => void held.push(() => response.end(echo(call)))
    const head = `POST ${path} HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
    for (const before of [0, 1, 2, 6]) {
      const connection = await openRaw(started.port)
      connection.send(
        Buffer.concat([
          ...Array.from({ length: before }, (_, index) => postBytes(path, read(index))),
          Buffer.from(`${head}5\r\n{"jso\r\nZZ\r\n`),
        ]),
      )
      for (let index = 0; index < before; index += 1) {
        await until(() => held.length > 0)
        held.shift()?.()
        expect((await connection.next()).status).toBe(200)
      }
      const last = await connection.next()
      expect([last.status, last.headers['connection']]).toEqual([400, 'close'])
      await connection.ended
    }
  })
})

describe('a caller that half-closes its connection', () => {
  test('gets its response, and then the end of the connection', async () => {
    const { upstream, started, path } = await openGateway()
    const pass = controlTime()
    const held: (() => void)[] = []
    upstream.behave = (call, response) => void held.push(() => response.end(echo(call)))
    const { socket, text } = halfOpen(started.port)
    socket.end(postBytes(path, read('late')))
    await until(() => held.length === 1)
    pass(1_999)
    held[0]?.()
    expect(await text).toContain('"result":"late"')
  })

  test('counts as gone if it gets no response in time: its read is stopped', async () => {
    const { upstream, started, path } = await openGateway()
    const pass = controlTime()
    upstream.behave = () => undefined
    const { socket, text } = halfOpen(started.port)
    const finished = once(socket, 'finish')
    socket.end(postBytes(path, read('never')))
    await finished
    await until(() => upstream.bodies.length === 1)
    // By the time another caller has its response, the gateway has seen the half-close.
    expect((await fetch(`${started.url}/healthz`)).status).toBe(200)
    pass(2_000)
    expect(await text).toBe('')
    await until(() => upstream.cut() === 1)
    expect(started.entries.some(({ event }) => event === 'disconnected')).toBe(true)
  })

  test('gets all of a large response that it reads slowly', async () => {
    const { upstream, started, path } = await openGateway()
    upstream.behave = (call) => result(call, `"${'x'.repeat(8_000_000)}"`)
    const { socket, text } = halfOpen(started.port)
    const pass = controlTime()
    socket.end(postBytes(path, read('large')))
    socket.on('data', () => {
      socket.pause()
      // In total longer than the grace period of two seconds for a caller without a response.
      pass(100)
      setImmediate(() => socket.resume())
    })
    expect((await text).length).toBeGreaterThan(8_000_000)
  })
})

describe('connections', () => {
  test('beyond maxConnections are not accepted, until one of the others ends', async () => {
    const { started, path } = await openGateway({ bounds: { maxConnections: 3 } })
    const three = await Promise.all([openRaw(started.port), openRaw(started.port), openRaw(started.port)])
    for (const connection of three) {
      connection.send(postBytes(path, read('a')))
      expect((await connection.next()).status).toBe(200)
    }
    const fourth = await openRaw(started.port)
    await fourth.ended
    three[0]?.destroy()
    await expect
      .poll(async () => {
        const fifth = await openRaw(started.port)
        fifth.send(postBytes(path, read('b')))
        const response = await fifth.next().catch(() => undefined)
        fifth.destroy()
        return response?.status
      })
      .toBe(200)
  })

  test('that are idle by the thousand do not disturb calls, and stay open', async () => {
    const { started, path, rpcUrl } = await openGateway()
    const idle = fork(new URL('idleCallers.ts', import.meta.url), [String(started.port), path, '3000'])
    onTestFinished(async () => {
      idle.kill()
      await once(idle, 'exit')
    })
    expect((await once(idle, 'message'))[0]).toBe('ready')
    for (let index = 0; index < 50; index += 1) expect((await post(rpcUrl, read(index))).status).toBe(200)
    idle.send('count')
    expect((await once(idle, 'message'))[0]).toEqual({ ended: 0 })
  })

  test('with huge headers get a 431, and the next one works', async () => {
    const { started, path, rpcUrl } = await openGateway()
    const connection = await openRaw(started.port)
    connection.send(postBytes(path, read('a'), { 'X-Long': 'x'.repeat(64 * 1024) }))
    expect((await connection.next()).status).toBe(431)
    await connection.ended
    expect((await post(rpcUrl, read('b'))).status).toBe(200)
  })
})
