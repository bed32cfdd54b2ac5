import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { until } from './controlTime.ts'
import { result } from './fakeUpstream.ts'
import { openGateway } from './openGateway.ts'
import { postBytes } from './rawConnection.ts'
import { post } from './startGateway.ts'

const read = '{"jsonrpc":"2.0","id":"é","method":"eth_call","params":[]}'
const wrap = (source: string): string => `{"jsonrpc":"2.0","id":"é","result":${source}}`

/** A JSON text with hex numbers that do not repeat, as large as a response should become. */
const createSource = (bytes: number): string => {
  let state = 1
  let hex = ''
  while (hex.length < bytes) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    hex += state.toString(16).padStart(8, '0')
  }
  return `"${hex.slice(0, bytes - 2)}"`
}
/** The result with which the response has exactly this many bytes. */
const createResult = (bytes: number): string => createSource(bytes - Buffer.byteLength(wrap('')))

const postRaw = (rpcUrl: string, body: string, headers: Record<string, string>): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = request(rpcUrl, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', ...headers },
    })
    sent.on('response', resolve)
    sent.on('error', reject)
    sent.end(body)
  })

const decoders = { gzip: gunzipSync, br: brotliDecompressSync } as const

const oneMegabyte = 1024 * 1024

describe.each(['gzip', 'br'] as const)('a caller that accepts %s', (encoding) => {
  test.each([
    ['1 KiB', 1_024, 'length'],
    ['17 kB', 17_600, 'length'],
    ['64 KiB', 64 * 1024, 'length'],
    ['64 KiB and a byte', 64 * 1024 + 1, 'chunked'],
    ['191 kB', 191_000, 'chunked'],
    ['600 kB', 600_000, 'chunked'],
    ['3 MiB, streamed from its node', 3 * oneMegabyte, 'chunked'],
  ])('gets a response of %s compressed, with exactly the same bytes', async (_, bytes, framing) => {
    const { upstream, rpcUrl } = await openGateway()
    const source = createResult(bytes)
    upstream.behave = (call) => result(call, source)
    const response = await postRaw(rpcUrl, read, { 'accept-encoding': encoding })
    const body = await buffer(response)
    expect(response.headers).toMatchObject({ 'content-encoding': encoding, vary: 'Accept-Encoding' })
    expect(response.headers['content-length']).toBe(framing === 'length' ? String(body.length) : undefined)
    expect(body.length).toBeLessThan(bytes * 0.8)
    const decoded = decoders[encoding](body)
    expect(decoded.length).toBe(bytes)
    expect(decoded.toString() === wrap(source)).toBe(true)
  })

  test('gets a batch of many short and some long results compressed, with exactly the same bytes', async () => {
    const { upstream, rpcUrl } = await openGateway()
    const long = createSource(300_000)
    upstream.behave = (call) => result(call, call.method === 'eth_getLogs' ? long : '"0xé"')
    const methods = Array.from({ length: 900 }, (_, index) => (index % 300 === 7 ? 'eth_getLogs' : 'eth_call'))
    const call = (method: string, id: number): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":[${id}]}`
    const response = await postRaw(rpcUrl, `[${methods.map(call).join(',')}]`, { 'accept-encoding': encoding })
    expect(response.headers['content-encoding']).toBe(encoding)
    const results = methods.map(
      (method, id) => `{"jsonrpc":"2.0","id":${id},"result":${method === 'eth_getLogs' ? long : '"0xé"'}}`,
    )
    expect(decoders[encoding](await buffer(response)).toString() === `[${results.join(',')}]`).toBe(true)
  })
})

describe('a response is not compressed', () => {
  test.each([
    ['without Accept-Encoding', {}, 'Accept-Encoding'],
    ['for a caller that rejects gzip', { 'accept-encoding': 'gzip;q=0' }, 'Accept-Encoding'],
    ['for a caller that prefers identity', { 'accept-encoding': 'identity, gzip;q=0.5' }, 'Accept-Encoding'],
    ['for a caller that accepts other codings only', { 'accept-encoding': 'deflate, zstd' }, 'Accept-Encoding'],
  ])('%s', async (_, headers, vary) => {
    const { upstream, rpcUrl } = await openGateway()
    const source = createResult(20_000)
    upstream.behave = (call) => result(call, source)
    const response = await postRaw(rpcUrl, read, headers)
    expect(response.headers).toMatchObject({ vary, 'content-length': '20000' })
    expect(response.headers['content-encoding']).toBeUndefined()
    expect(await text(response)).toBe(wrap(source))
  })

  test('if it is shorter than 1 KiB, and then it does not vary', async () => {
    const { upstream, rpcUrl } = await openGateway()
    const source = createResult(1_023)
    upstream.behave = (call) => result(call, source)
    const response = await postRaw(rpcUrl, read, { 'accept-encoding': 'gzip' })
    expect(response.headers['content-length']).toBe('1023')
    expect([response.headers['content-encoding'], response.headers.vary]).toEqual([undefined, undefined])
    expect(await text(response)).toBe(wrap(source))
  })

  test('if it has no body', async () => {
    const { rpcUrl } = await openGateway()
    const notification = '{"jsonrpc":"2.0","method":"eth_blockNumber"}'
    const response = await postRaw(rpcUrl, notification, { 'accept-encoding': 'gzip' })
    expect([response.statusCode, response.headers['content-encoding']]).toEqual([204, undefined])
    expect((await buffer(response)).length).toBe(0)
  })

  test.each([
    ['20 kB', 20_000],
    ['3 MiB', 3 * oneMegabyte],
  ])('for HTTP/1.0: %s', async (_, bytes) => {
    const { upstream, started, path } = await openGateway()
    const source = createResult(bytes)
    upstream.behave = (call) => result(call, source)
    const socket = connect({ port: started.port, host: '127.0.0.1' })
    socket.write(postBytes(path, read, { 'Accept-Encoding': 'gzip' }).toString().replace('HTTP/1.1', 'HTTP/1.0'))
    const [head = '', body] = (await text(socket)).split('\r\n\r\n')
    expect(head.toLowerCase()).not.toContain('content-encoding')
    expect(head.toLowerCase()).not.toContain('transfer-encoding')
    expect(body === wrap(source)).toBe(true)
  })

  test('if compression is off, and then it does not vary', async () => {
    const { upstream, rpcUrl } = await openGateway({ compression: false })
    const source = createResult(20_000)
    upstream.behave = (call) => result(call, source)
    const response = await postRaw(rpcUrl, read, { 'accept-encoding': 'gzip, br' })
    expect([response.headers['content-encoding'], response.headers.vary]).toEqual([undefined, undefined])
    expect(await text(response)).toBe(wrap(source))
  })

  test('if there is no memory for its compressor, while shorter ones are', async () => {
    const { upstream, rpcUrl } = await openGateway({ bounds: { maxBufferedBytes: oneMegabyte } })
    const getEncoding = async (bytes: number): Promise<string | undefined> => {
      const source = createResult(bytes)
      upstream.behave = (call) => result(call, source)
      const response = await postRaw(rpcUrl, read, { 'accept-encoding': 'gzip' })
      const body = await buffer(response)
      const encoding = response.headers['content-encoding']
      expect((encoding === 'gzip' ? gunzipSync(body) : body).toString() === wrap(source)).toBe(true)
      return encoding
    }
    expect([await getEncoding(100_000), await getEncoding(20_000)]).toEqual([undefined, 'gzip'])
  })
})

test('the memory of compressors is free again once their responses are written or their callers have left', async () => {
  // Room for fewer compressors than there are rounds.
  const { upstream, started, path, rpcUrl } = await openGateway({ bounds: { maxBufferedBytes: 8 * oneMegabyte } })
  const source = createResult(600_000)
  const endless = createSource(3 * oneMegabyte).slice(0, -1)
  let streams = 0
  for (let round = 0; round < 6; round += 1) {
    upstream.behave = (call, response) => {
      streams += 1
      response.on('close', () => (streams -= 1))
      response.write(result(call, endless).slice(0, -1))
      return undefined
    }
    const caller = connect({ port: started.port, host: '127.0.0.1' })
    caller.write(postBytes(path, read, { 'Accept-Encoding': 'gzip' }))
    let head = ''
    caller.on('data', (chunk) => (head += chunk.toString('latin1')))
    await until(() => head.length > oneMegabyte)
    expect(head.slice(0, 1_000)).toContain('Content-Encoding: gzip')
    caller.destroy()
    await until(() => streams === 0)
    upstream.behave = (call) => result(call, source)
    const response = await postRaw(rpcUrl, read, { 'accept-encoding': 'br' })
    expect(response.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(await buffer(response)).length).toBe(600_000)
  }
})

test('a streamed result that its node breaks off never looks complete', async () => {
  const { upstream, rpcUrl } = await openGateway()
  let cut = (): void => {}
  upstream.behave = (call, response) => {
    response.write(result(call, createSource(3 * oneMegabyte)).slice(0, -2))
    cut = () => void response.destroy()
    return undefined
  }
  const response = await postRaw(rpcUrl, read, { 'accept-encoding': 'gzip' })
  expect(response.headers['content-encoding']).toBe('gzip')
  const body = buffer(response)
  cut()
  await expect(body).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test('fetch decodes what it gets, and responses on one connection stay in order', async () => {
  const { upstream, started, path, rpcUrl } = await openGateway()
  const source = createResult(100_000)
  upstream.behave = (call) => result(call, call.method === 'eth_call' ? source : '"0x1"')
  const fetched = await post(rpcUrl, read)
  expect([fetched.status, fetched.headers.get('content-encoding')]).toEqual([200, expect.stringMatching(/gzip|br/)])
  expect(fetched.text === wrap(source)).toBe(true)

  const caller = connect({ port: started.port, host: '127.0.0.1' })
  const [first, second] = [read, read.replace('eth_call', 'eth_blockNumber')]
  caller.write(
    Buffer.concat([first, second, first].map((body) => postBytes(path, body, { 'Accept-Encoding': 'gzip' }))),
  )
  let bytes = ''
  caller.on('data', (chunk) => (bytes += chunk.toString('latin1')))
  await until(() => bytes.split('HTTP/1.1 200 OK').length === 4 && bytes.endsWith('\r\n0\r\n\r\n'))
  caller.destroy()
  const encodings = bytes
    .split('HTTP/1.1 200 OK')
    .slice(1)
    .map((response) => response.includes('Content-Encoding: gzip'))
  expect(encodings).toEqual([true, false, true])
})
