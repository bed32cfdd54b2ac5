import { connect } from 'node:net'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createLocalLimits } from '../src/usage/limits/createLocalLimits.ts'
import { createUpstream } from '../src/proxy/upstream/createUpstream.ts'
import { controlTime, until } from './controlTime.ts'
import { result } from './fakeUpstream.ts'
import type { SeenCall } from './fakeUpstream.ts'
import { openGateway } from './openGateway.ts'
import { postBytes } from './rawConnection.ts'
import { post } from './startGateway.ts'

afterEach(() => {
  vi.useRealTimers()
})

const read = '{"jsonrpc":"2.0","id":"mine","method":"eth_call","params":[]}'
const megabyte = 1024 * 1024
const large = 'é'.repeat(megabyte)

interface Caller {
  readonly socket: Socket
  readonly bytes: () => number
  readonly end: Promise<{ text: string; clean: boolean }>
}
/** Opens a connection that shows its response, also an incomplete one. */
const openCaller = (port: number, bytes: Buffer): Caller => {
  const socket = connect({ port, host: '127.0.0.1' })
  const chunks: Buffer[] = []
  let size = 0
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
  })
  socket.write(bytes)
  const end = new Promise<{ text: string; clean: boolean }>((resolve) => {
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString()
      resolve({ text, clean: text.endsWith('\r\n0\r\n\r\n') })
    })
  })
  return { socket, bytes: () => size, end }
}

/** Writes the first 2 MiB of a large response, and leaves the rest to the test. */
const startLarge =
  (then: (response: ServerResponse, call: SeenCall) => void) =>
  (call: SeenCall, response: ServerResponse): undefined => {
    response.write(result(call, `["${'x'.repeat(2 * megabyte)}`).slice(0, -1))
    then(response, call)
  }

describe('a result of more than a megabyte', () => {
  test('is returned byte for byte, without a length', async () => {
    const { upstream, rpcUrl } = await openGateway()
    upstream.behave = (call) => ` {"jsonrpc":"2.0", "id" : ${call.id},"result": ["${large}"] ,"more":{"id":1}}\n`
    const response = await post(rpcUrl, read)
    expect([response.status, response.headers.get('content-length')]).toEqual([200, null])
    expect(response.text === `{"jsonrpc":"2.0","id":"mine","result":["${large}"]}`).toBe(true)
  })

  test('reaches its caller before the node has sent all of it', async () => {
    const { upstream, started, path } = await openGateway()
    let release = (): void => {}
    upstream.behave = startLarge((response) => (release = () => void response.end('y"]}')))
    const caller = openCaller(started.port, postBytes(path, read, { Connection: 'close' }))
    await until(() => caller.bytes() > 2 * megabyte)
    release()
    const { text, clean } = await caller.end
    expect([clean, text.slice(-60)]).toEqual([true, expect.stringContaining('y"]')])
  })

  test.each([
    ['dies', (response: ServerResponse) => void response.destroy()],
    ['resets the connection', (response: ServerResponse) => void response.socket?.resetAndDestroy()],
    ['sends invalid JSON', (response: ServerResponse) => void response.end('"]]}')],
    ['ends in the middle', (response: ServerResponse) => void response.end('"')],
    ['sends a second id', (response: ServerResponse, call: SeenCall) => void response.end(`"],"id":${call.id}}`)],
    ['sends a second result', (response: ServerResponse) => void response.end('"],"result":1}')],
    ['sends an error too', (response: ServerResponse) => void response.end('"],"error":{"code":1,"message":""}}')],
    ['sends more than one JSON value', (response: ServerResponse) => void response.end('"]}{}')],
    ['sends too much', (response: ServerResponse) => void response.end(`${'x'.repeat(4 * megabyte)}"]}`)],
  ])('whose node then %s never looks complete', async (_, then) => {
    const { upstream, started, path } = await openGateway({ bounds: { maxResponseBytes: 5 * megabyte } })
    let behave = (): void => {}
    upstream.behave = startLarge((response, call) => (behave = () => then(response, call)))
    const caller = openCaller(started.port, postBytes(path, read))
    await until(() => caller.bytes() > 2 * megabyte)
    behave()
    const { text, clean } = await caller.end
    expect([clean, text.slice(0, 15)]).toEqual([false, 'HTTP/1.1 200 OK'])
    upstream.behave = (call) => result(call, '1')
    expect((await post(started.url + path, read)).status).toBe(200)
  })

  test('is valid together with an error of null', async () => {
    const { upstream, rpcUrl } = await openGateway()
    upstream.behave = (call) => `{"id":${call.id},"result":"${large}","error":null}`
    expect((await post(rpcUrl, read)).text.length).toBe(`{"jsonrpc":"2.0","id":"mine","result":"${large}"}`.length)
  })

  test('is cut if its node sends nothing for too long', async () => {
    const pass = controlTime()
    const { upstream, started, path } = await openGateway({ bounds: { upstreamTimeoutMs: 300 } })
    upstream.behave = startLarge(() => {})
    const caller = openCaller(started.port, postBytes(path, read))
    await until(() => caller.bytes() > 2 * megabyte)
    pass(300)
    const { clean } = await caller.end
    expect(clean).toBe(false)
  })

  test('is stopped at its node when its caller leaves', async () => {
    const { upstream, started, path } = await openGateway()
    let over = false
    upstream.behave = startLarge((response) => {
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => {
        clearInterval(timer)
        over = true
      })
    })
    const caller = openCaller(started.port, postBytes(path, read))
    await until(() => caller.bytes() > megabyte)
    caller.socket.destroy()
    await until(() => over)
  })

  test('is paused at its node while its caller does not read', async () => {
    const { upstream, started, path } = await openGateway()
    let written = 0
    let over = false
    const piece = Buffer.alloc(megabyte, 'x')
    let blocked = false
    const flood = startLarge((response) => {
      const more = (): void => {
        while (written < 60) {
          written += 1
          blocked = !response.write(piece)
          if (!blocked) continue
          response.once('drain', more)
          return
        }
        response.end('"]}')
        over = true
      }
      more()
    })
    upstream.behave = (call, response) =>
      call.method === 'eth_gasPrice' ? result(call, '"0x1"') : flood(call, response)
    const caller = openCaller(started.port, postBytes(path, read, { Connection: 'close' }))
    caller.socket.pause()
    // The buffers of four sockets are full: then the node waits for the gateway.
    await until(() => blocked && caller.socket.isPaused())
    let seen: number
    do {
      seen = written
      // Another response of the same node through the same gateway takes longer than any write that is still possible.
      await post(started.url + path, read.replace('eth_call', 'eth_gasPrice'))
    } while (written !== seen)
    expect([over, written < 40]).toEqual([false, true])
    caller.socket.resume()
    const { clean, text } = await caller.end
    expect([clean, text.length > 60 * megabyte]).toEqual([true, true])
  })

  test('is complete if its node closes the connection after it while its end is paused', async () => {
    const { upstream } = await openGateway()
    const text = `"${'x'.repeat(2 * megabyte)}"`
    let closed = false
    upstream.behave = (_, response) => {
      const { socket } = response
      socket?.on('close', () => (closed = true))
      response.writeHead(200, { 'content-length': text.length })
      response.end(text, () => socket?.end())
      return undefined
    }
    const node = createUpstream(new URL(upstream.url))
    onTestFinished(node.close)
    let bytes = 0
    const ended = new Promise<string>((resolve) => {
      node.post({
        body: read,
        budget: { left: 4 * megabyte },
        done: () => resolve('buffered'),
        large: (head, flow) => {
          bytes = head.reduce((sum, { length }) => sum + length, 0)
          return {
            data: ({ length }) => {
              bytes += length
              if (bytes === text.length) flow.pause()
            },
            end: () => resolve('complete'),
            fail: () => resolve('broken'),
          }
        },
      })
    })
    expect([await ended, bytes]).toEqual(['complete', text.length])
    await until(() => closed)
  })

  test('is cut after writeTimeoutMs if its caller reads nothing, at the node too', async () => {
    const pass = controlTime()
    const { upstream, started, path } = await openGateway({
      bounds: { writeTimeoutMs: 300, upstreamTimeoutMs: 3_600_000 },
    })
    let over = false
    upstream.behave = startLarge((response) => {
      response.on('close', () => (over = true))
      response.write('x'.repeat(30 * megabyte))
    })
    const caller = openCaller(started.port, postBytes(path, read))
    caller.socket.pause()
    await until(() => {
      pass(10)
      return over
    })
  })

  test('of a notification is not read to its end', async () => {
    const { upstream, rpcUrl } = await openGateway()
    let over = false
    upstream.behave = startLarge((response) => response.on('close', () => (over = true)))
    const response = await post(rpcUrl, read.replace('"id":"mine",', ''))
    expect(response.status).toBe(204)
    await until(() => over)
  })

  test('works with HTTP/1.0', async () => {
    const { upstream, started, path } = await openGateway()
    upstream.behave = (call) => result(call, `"${large}"`)
    const bytes = Buffer.from(postBytes(path, read).toString().replace('HTTP/1.1', 'HTTP/1.0'))
    const { text } = await openCaller(started.port, bytes).end
    expect(text.endsWith(`{"jsonrpc":"2.0","id":"mine","result":"${large}"}`)).toBe(true)
  })

  test('is buffered if several callers wait for it, and each gets all of it', async () => {
    const usageLimits = createLocalLimits()
    let received = 0
    const { upstream, started, rpcUrl } = await openGateway({
      usageLimits: {
        ...usageLimits,
        take: (request) => {
          received += 1
          return usageLimits.take(request)
        },
      },
    })
    const limits = { perSecond: 10, burst: 10, perDay: null, perMonth: null }
    started.keys.add(started.testnetKey, { id: 'a', kind: 'apiKey', networks: ['testnet'], status: 'active', limits })
    let release = (): void => {}
    upstream.behave = (call, response) => void (release = () => void response.end(result(call, `"${large}"`)))
    const responses = [post(rpcUrl, read), post(rpcUrl, read.replace('mine', 'yours'))]
    await until(() => received === 2 && upstream.bodies.length === 1)
    release()
    const texts = (await Promise.all(responses)).map(({ text }) => text)
    for (const [index, id] of ['mine', 'yours'].entries())
      expect(texts[index] === `{"jsonrpc":"2.0","id":"${id}","result":"${large}"}`).toBe(true)
    expect(upstream.bodies.length).toBe(1)
  })

  test('with a Content-Length above maxResponseBytes is rejected with its reason', async () => {
    const { upstream, rpcUrl } = await openGateway({ bounds: { maxResponseBytes: 2 * megabyte } })
    upstream.behave = (call) => result(call, `"${large}"`)
    const response = await post(rpcUrl, read)
    expect([response.status, JSON.parse(response.text)]).toMatchObject([
      502,
      { id: 'mine', error: { data: { reason: 'response_too_large' } } },
    ])
  })
})

describe('a response that cannot be streamed is buffered:', () => {
  test.each([
    ['a result before its id', (call: SeenCall) => `{"result":"${large}","id":${call.id}}`, 'result', `"${large}"`],
    ['an error', (call: SeenCall) => `{"id":${call.id},"error":{"m":"${large}"}}`, 'error', `{"m":"${large}"}`],
  ])('%s', async (_, behave, member, value) => {
    const { upstream, rpcUrl } = await openGateway()
    upstream.behave = behave
    const { text } = await post(rpcUrl, read)
    expect(text === `{"jsonrpc":"2.0","id":"mine","${member}":${value}}`).toBe(true)
  })
})

describe('a response of more than 64 KiB that is almost JSON is rejected:', () => {
  const filler = `"${'x'.repeat(70_000)}"`
  test.each([
    ['crossing brackets', `[${filler},{"a":[}]]`],
    ['a missing comma', `[${filler} 1]`],
    ['an invalid number', `[${filler},01]`],
    ['an invalid literal', `[${filler},nul]`],
    ['a control character', `[${filler},"\u0001"]`],
    ['an invalid escape', `[${filler},"\\x"]`],
    ['a trailing comma', `[${filler},]`],
  ])('%s', async (_, value) => {
    const { upstream, rpcUrl } = await openGateway()
    upstream.behave = (call) => result(call, value)
    expect((await post(rpcUrl, read)).status).toBe(502)
    const batch = await post(rpcUrl, `[${read}]`)
    expect(JSON.parse(batch.text)).toMatchObject([{ error: { data: { reason: 'upstream_bad' } } }])
  })
})
