import { connect } from 'node:net'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { GatewayOptions } from '../src/index.ts'
import { createRateLimiter } from '../src/usage/rateLimit/createRateLimiter.ts'
import { createUpstream } from '../src/proxy/upstream/createUpstream.ts'
import { controlTime, until } from './controlTime.ts'
import { result, startFakeUpstream } from './fakeUpstream.ts'
import type { FakeUpstream, SeenCall } from './fakeUpstream.ts'
import { postBytes } from './rawConnection.ts'
import { chainIds, post, startGateway } from './startGateway.ts'
import type { StartedGateway } from './startGateway.ts'

const toStop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const start = async (
  options: Partial<GatewayOptions> = {},
): Promise<{ upstream: FakeUpstream; started: StartedGateway; path: string; address: string }> => {
  const upstream = await startFakeUpstream(chainIds.testnet)
  const started = await startGateway({ testnet: [upstream.url] }, options)
  toStop.push(upstream.stop, () => started.gateway.close({ graceMs: 0 }))
  const path = `/testnet/${started.testnetKey}`
  return { upstream, started, path, address: started.url + path }
}
const read = '{"jsonrpc":"2.0","id":"mine","method":"eth_call","params":[]}'
const megabyte = 1024 * 1024
const large = 'é'.repeat(megabyte)

interface Caller {
  readonly socket: Socket
  readonly bytes: () => number
  readonly end: Promise<{ text: string; clean: boolean }>
}
/** A caller that shows what came of its answer, however it ended. */
const ask = (port: number, bytes: Buffer): Caller => {
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

/** Begins a large answer, 2 MiB of it, and leaves the rest to the test. */
const begin =
  (then: (response: ServerResponse, call: SeenCall) => void) =>
  (call: SeenCall, response: ServerResponse): undefined => {
    response.write(result(call, `["${'x'.repeat(2 * megabyte)}`).slice(0, -1))
    then(response, call)
  }

describe('a result of more than a megabyte', () => {
  test('comes back byte for byte, without a length', async () => {
    const { upstream, address } = await start()
    upstream.behave = (call) => ` {"jsonrpc":"2.0", "id" : ${call.id},"result": ["${large}"] ,"more":{"id":1}}\n`
    const answer = await post(address, read)
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, null])
    expect(answer.text === `{"jsonrpc":"2.0","id":"mine","result":["${large}"]}`).toBe(true)
  })

  test('reaches its caller before the node has sent all of it', async () => {
    const { upstream, started, path } = await start()
    let release = (): void => {}
    upstream.behave = begin((response) => (release = () => void response.end('y"]}')))
    const caller = ask(started.port, postBytes(path, read, { Connection: 'close' }))
    await until(() => caller.bytes() > 2 * megabyte)
    release()
    const { text, clean } = await caller.end
    expect([clean, text.slice(-60)]).toEqual([true, expect.stringContaining('y"]')])
  })

  test.each([
    ['dies', (response: ServerResponse) => void response.destroy()],
    ['resets the connection', (response: ServerResponse) => void response.socket?.resetAndDestroy()],
    ['sends what is no JSON', (response: ServerResponse) => void response.end('"]]}')],
    ['ends in the middle', (response: ServerResponse) => void response.end('"')],
    ['sends a second id', (response: ServerResponse, call: SeenCall) => void response.end(`"],"id":${call.id}}`)],
    ['sends a second result', (response: ServerResponse) => void response.end('"],"result":1}')],
    ['sends an error too', (response: ServerResponse) => void response.end('"],"error":{"code":1,"message":""}}')],
    ['sends more than one JSON', (response: ServerResponse) => void response.end('"]}{}')],
    ['sends more than it may', (response: ServerResponse) => void response.end(`${'x'.repeat(4 * megabyte)}"]}`)],
  ])('whose node then %s never looks whole', async (_, then) => {
    const { upstream, started, path } = await start({ limits: { maxResponseBytes: 5 * megabyte } })
    let behave = (): void => {}
    upstream.behave = begin((response, call) => (behave = () => then(response, call)))
    const caller = ask(started.port, postBytes(path, read))
    await until(() => caller.bytes() > 2 * megabyte)
    behave()
    const { text, clean } = await caller.end
    expect([clean, text.slice(0, 15)]).toEqual([false, 'HTTP/1.1 200 OK'])
    upstream.behave = (call) => result(call, '1')
    expect((await post(started.url + path, read)).status).toBe(200)
  })

  test('with an error of null beside it is a result', async () => {
    const { upstream, address } = await start()
    upstream.behave = (call) => `{"id":${call.id},"result":"${large}","error":null}`
    expect((await post(address, read)).text.length).toBe(`{"jsonrpc":"2.0","id":"mine","result":"${large}"}`.length)
  })

  test('whose node sends nothing more for too long is cut', async () => {
    const pass = controlTime()
    const { upstream, started, path } = await start({ limits: { upstreamTimeoutMs: 300 } })
    upstream.behave = begin(() => {})
    const caller = ask(started.port, postBytes(path, read))
    await until(() => caller.bytes() > 2 * megabyte)
    pass(300)
    const { clean } = await caller.end
    expect(clean).toBe(false)
  })

  test('is stopped at its node when its caller goes', async () => {
    const { upstream, started, path } = await start()
    let over = false
    upstream.behave = begin((response) => {
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => {
        clearInterval(timer)
        over = true
      })
    })
    const caller = ask(started.port, postBytes(path, read))
    await until(() => caller.bytes() > megabyte)
    caller.socket.destroy()
    await until(() => over)
  })

  test('is held back at its node while its caller does not read', async () => {
    const { upstream, started, path } = await start()
    let written = 0
    let over = false
    const piece = Buffer.alloc(megabyte, 'x')
    let blocked = false
    const flood = begin((response) => {
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
    const caller = ask(started.port, postBytes(path, read, { Connection: 'close' }))
    caller.socket.pause()
    // What lies in the buffers of four sockets, and no more: then the node waits for the gateway.
    await until(() => blocked && caller.socket.isPaused())
    let seen: number
    do {
      seen = written
      // A response of the same node, over the same gateway, takes longer than what can still be written.
      await post(started.url + path, read.replace('eth_call', 'eth_gasPrice'))
    } while (written !== seen)
    expect([over, written < 40]).toEqual([false, true])
    caller.socket.resume()
    const { clean, text } = await caller.end
    expect([clean, text.length > 60 * megabyte]).toEqual([true, true])
  })

  test('is whole where its node closes the connection behind it while its end is held back', async () => {
    const { upstream } = await start()
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
    toStop.push(node.close)
    let bytes = 0
    const ended = new Promise<string>((resolve) => {
      node.post({
        body: read,
        budget: { left: 4 * megabyte },
        done: () => resolve('kept'),
        large: (head, flow) => {
          bytes = head.reduce((sum, { length }) => sum + length, 0)
          return {
            data: ({ length }) => {
              bytes += length
              if (bytes === text.length) flow.pause()
            },
            end: () => resolve('whole'),
            fail: () => resolve('broken'),
          }
        },
      })
    })
    expect([await ended, bytes]).toEqual(['whole', text.length])
    await until(() => closed)
  })

  test('of a caller that takes nothing at all is cut after writeTimeoutMs, at the node too', async () => {
    const pass = controlTime()
    const { upstream, started, path } = await start({ limits: { writeTimeoutMs: 300, upstreamTimeoutMs: 3_600_000 } })
    let over = false
    upstream.behave = begin((response) => {
      response.on('close', () => (over = true))
      response.write('x'.repeat(30 * megabyte))
    })
    const caller = ask(started.port, postBytes(path, read))
    caller.socket.pause()
    await until(() => {
      pass(10)
      return over
    })
  })

  test('asked for by a notification is not read to its end', async () => {
    const { upstream, address } = await start()
    let over = false
    upstream.behave = begin((response) => response.on('close', () => (over = true)))
    const answer = await post(address, read.replace('"id":"mine",', ''))
    expect(answer.status).toBe(204)
    await until(() => over)
  })

  test('goes to a caller that speaks HTTP/1.0 as well', async () => {
    const { upstream, started, path } = await start()
    upstream.behave = (call) => result(call, `"${large}"`)
    const bytes = Buffer.from(postBytes(path, read).toString().replace('HTTP/1.1', 'HTTP/1.0'))
    const { text } = await ask(started.port, bytes).end
    expect(text.endsWith(`{"jsonrpc":"2.0","id":"mine","result":"${large}"}`)).toBe(true)
  })

  test('is kept whole where several wait for it, and each gets all of it', async () => {
    const rates = createRateLimiter()
    let received = 0
    const { upstream, started, address } = await start({
      rates: {
        take: (...call) => {
          received += 1
          return rates.take(...call)
        },
      },
    })
    const limits = { perSecond: 10, burst: 10, perDay: null, perMonth: null }
    started.keys.add(started.testnetKey, { id: 'a', kind: 'apiKey', networks: ['testnet'], status: 'active', limits })
    let release = (): void => {}
    upstream.behave = (call, response) => void (release = () => void response.end(result(call, `"${large}"`)))
    const answers = [post(address, read), post(address, read.replace('mine', 'yours'))]
    await until(() => received === 2 && upstream.bodies.length === 1)
    release()
    const texts = (await Promise.all(answers)).map(({ text }) => text)
    for (const [index, id] of ['mine', 'yours'].entries())
      expect(texts[index] === `{"jsonrpc":"2.0","id":"${id}","result":"${large}"}`).toBe(true)
    expect(upstream.bodies.length).toBe(1)
  })

  test('that is announced as more than it may be is rejected with its reason', async () => {
    const { upstream, address } = await start({ limits: { maxResponseBytes: 2 * megabyte } })
    upstream.behave = (call) => result(call, `"${large}"`)
    const answer = await post(address, read)
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
      502,
      { id: 'mine', error: { data: { reason: 'response_too_large' } } },
    ])
  })
})

describe('what cannot be streamed is kept whole and answered all the same:', () => {
  test.each([
    ['a result before its id', (call: SeenCall) => `{"result":"${large}","id":${call.id}}`, 'result', `"${large}"`],
    ['an error', (call: SeenCall) => `{"id":${call.id},"error":{"m":"${large}"}}`, 'error', `{"m":"${large}"}`],
  ])('%s', async (_, behave, member, value) => {
    const { upstream, address } = await start()
    upstream.behave = behave
    const { text } = await post(address, read)
    expect(text === `{"jsonrpc":"2.0","id":"mine","${member}":${value}}`).toBe(true)
  })
})

describe('an answer of more than 64 KiB that only seems to be JSON is rejected:', () => {
  const filler = `"${'x'.repeat(70_000)}"`
  test.each([
    ['brackets that cross', `[${filler},{"a":[}]]`],
    ['a missing comma', `[${filler} 1]`],
    ['a wrong number', `[${filler},01]`],
    ['a wrong word', `[${filler},nul]`],
    ['a control character', `[${filler},"\u0001"]`],
    ['a wrong escape', `[${filler},"\\x"]`],
    ['a comma too many', `[${filler},]`],
  ])('%s', async (_, value) => {
    const { upstream, address } = await start()
    upstream.behave = (call) => result(call, value)
    expect((await post(address, read)).status).toBe(502)
    const batch = await post(address, `[${read}]`)
    expect(JSON.parse(batch.text)).toMatchObject([{ error: { data: { reason: 'upstream_bad' } } }])
  })
})
