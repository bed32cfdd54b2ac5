import { connect } from 'node:net'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { TestOptions } from '../createTestGateway.ts'
import type { RecordedRequest, RequestRecorder } from '../../src/usage/requestLog/requestRecorder.ts'
import { result } from '../fakeUpstream.ts'
import { openRaw, postBytes } from '../rawConnection.ts'
import { openSocket } from '../socket/openSocket.ts'
import { post } from '../startGateway.ts'
import { batch, call, noLimits, openTenants } from './startTenants.ts'
import type { StartedTenants } from './startTenants.ts'

interface StartedLog extends StartedTenants {
  readonly recorded: RecordedRequest[]
  /** The calls of `admits`: the key and the outcome. */
  readonly admissions: string[]
  readonly log: { admits: boolean }
}

const start = async (options: Partial<TestOptions> = {}): Promise<StartedLog> => {
  const recorded: RecordedRequest[] = []
  const admissions: string[] = []
  const log = { admits: true }
  const requestRecorder: RequestRecorder = {
    admits: (keyId, outcome) => {
      admissions.push(`${keyId} ${outcome}`)
      return log.admits
    },
    add: (request) => void recorded.push(request),
  }
  const started = await openTenants({ requestRecorder, ...options })
  return { ...started, recorded, admissions, log }
}
const revert = '{"code":3,"message":"execution reverted","data":"0x08c379a0"}'

describe('the request log gets', () => {
  test('a successful call', async () => {
    const { addApp, recorded, upstream } = await start()
    upstream.behave = (seen) => result(seen, '"0x2a"')
    const { path, key } = addApp({ id: 'key_m' })
    const body = call('eth_gasPrice')
    const response = await post(path, body, {
      headers: { 'content-type': 'application/json', origin: 'https://dapp.example' },
    })
    expect(recorded).toEqual([
      {
        keyId: 'key_m',
        method: 'eth_gasPrice',
        outcome: 'succeeded',
        error: undefined,
        status: 200,
        durationMs: expect.any(Number),
        network: 'testnet',
        requestId: response.headers.get('x-request-id'),
        calls: 1,
        failedCalls: 0,
        storedCalls: 0,
        secrets: [key],
        keyEnding: key.slice(-4),
        origin: 'https://dapp.example',
        ip: '127.0.0.1',
        requestBytes: body.length,
        responseBytes: response.text.length,
        transport: 'http',
        params: undefined,
        response: undefined,
      },
    ])
    expect(recorded[0]?.durationMs).toBeGreaterThan(0)
  })

  test('a failed call with its error, and an unknown method by its name', async () => {
    const { addApp, recorded, upstream } = await start()
    const { path } = addApp({ limits: { ...noLimits, perDay: 2 } })
    upstream.behave = (seen) => `{"jsonrpc":"2.0","id":${seen.id},"error":${revert}}`
    await post(path, call('eth_call'))
    await post(path, call('eth_getAllLogs'))
    await post(path, '{')
    await post(path, '1')
    await post(path, call('eth_call'))
    await post(path, call('eth_call'))
    expect(recorded.map(({ method, outcome, status, error }) => [method, outcome, status, error])).toMatchObject([
      ['eth_call', 'reverted', 200, { text: revert }],
      [
        'eth_getAllLogs',
        'method_not_found',
        200,
        { code: -32_601, message: expect.stringContaining('eth_getAllLogs') },
      ],
      [undefined, 'parse_error', 400, { code: -32_700 }],
      [undefined, 'invalid_request', 400, { code: -32_600 }],
      ['eth_call', 'reverted', 200, { text: revert }],
      ['eth_call', 'quota_exceeded', 403, { code: expect.any(Number) }],
    ])
    expect(recorded.map(({ failedCalls }) => failedCalls)).toEqual([0, 1, 1, 1, 0, 1])
  })

  test('a batch as one request, with its first failed call', async () => {
    const { addApp, recorded, upstream } = await start()
    const { path } = addApp()
    upstream.behave = (seen) => result(seen, '1')
    await post(path, batch('eth_gasPrice', 'eth_blobBaseFee'))
    await post(path, batch('eth_gasPrice', 'eth_fetchAll', 'nope'))
    upstream.behave = (seen) =>
      seen.method === 'eth_call' ? `{"jsonrpc":"2.0","id":${seen.id},"error":${revert}}` : result(seen, '1')
    await post(path, batch('eth_gasPrice', 'eth_call'))
    await post(path, batch('eth_call', 'nope'))
    expect(recorded.map(({ method, outcome, calls, failedCalls }) => [method, outcome, calls, failedCalls])).toEqual([
      ['eth_gasPrice', 'succeeded', 2, 0],
      ['eth_fetchAll', 'method_not_found', 3, 2],
      ['eth_call', 'reverted', 2, 0],
      ['nope', 'method_not_found', 2, 1],
    ])
  })

  test('a request of a known key that is rejected before its body is read', async () => {
    const { addApp, addApiKey, recorded, url } = await start()
    await post(addApp({ id: 'key_off', services: [] }).path, call('eth_call'))
    await post(addApiKey({ id: 'key_rev', status: 'revoked' }).path, call('eth_call'))
    await post(`${url}/testnet/none`, call('eth_call'))
    expect(recorded).toMatchObject([
      { keyId: 'key_off', method: undefined, outcome: 'service_off', status: 403, calls: 1, requestBytes: undefined },
      { keyId: 'key_rev', outcome: 'key_revoked', status: 401, error: { message: expect.any(String) } },
    ])
  })

  test('a rejection of a whole batch by its first method', async () => {
    const { addApp, recorded, usageLimits } = await start()
    const { path } = addApp({ limits: { ...noLimits, perDay: 100 } })
    usageLimits.mode = 'unavailable'
    await post(path, batch('eth_gasPrice', 'eth_blockNumber'))
    expect(recorded).toMatchObject([
      { method: 'eth_gasPrice', outcome: 'key_store_unavailable', status: 503, calls: 2 },
    ])
  })

  test('a call whose caller disconnected', async () => {
    const { addApp, recorded, upstream, port } = await start()
    const { path } = addApp()
    upstream.behave = () => undefined
    const connection = await openRaw(port)
    connection.send(postBytes(new URL(path).pathname, call('eth_gasPrice')))
    await expect.poll(() => upstream.bodies.length).toBe(1)
    connection.reset()
    await expect.poll(() => recorded).toMatchObject([{ method: 'eth_gasPrice', outcome: 'disconnected', status: 499 }])
  })

  test('a large result when it has ended', async () => {
    const { addApp, recorded, upstream, port } = await start()
    const { path } = addApp({ recording: { recordDetails: true } })
    const large = `"${'x'.repeat(3_000_000)}"`
    upstream.behave = (seen) => result(seen, large)
    await post(path, call('eth_call'))
    upstream.behave = (seen, response) => void response.write(result(seen, large).slice(0, -2))
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.write(postBytes(new URL(path).pathname, call('eth_call')))
    await once(socket, 'data')
    socket.resetAndDestroy()
    await expect.poll(() => recorded.length).toBe(2)
    expect(recorded).toMatchObject([
      { method: 'eth_call', outcome: 'succeeded', responseBytes: undefined, params: '[]', response: undefined },
      { method: 'eth_call', outcome: 'disconnected', responseBytes: undefined },
    ])
  })

  test('excerpts only if the key records them, and no params of an unknown method, which may be a password', async () => {
    const { addApp, recorded, upstream } = await start()
    const { path } = addApp({ recording: { recordDetails: true } })
    const params = `[{"to":"0x1"},"${'é'.repeat(3_000)}"]`
    upstream.behave = (seen) => result(seen, `"${'é'.repeat(3_000)}"`)
    await post(path, call('eth_call', params))
    await post(path, call('personal_unlockAccount', '["0x1","hunter22"]'))
    await post(addApp().path, call('eth_call', params))
    expect(recorded.map(({ params: text }) => text)).toEqual([params.slice(0, 1_280), undefined, undefined])
    expect(recorded.map(({ response }) => response?.slice(0, 600))).toEqual([
      `"${'é'.repeat(599)}`,
      undefined,
      undefined,
    ])
  })

  test('nothing that it does not admit, and the outcome of each request', async () => {
    const { addApp, admissions, recorded, log } = await start()
    log.admits = false
    const { path } = addApp({ id: 'key_n' })
    await post(path, call('eth_gasPrice'))
    await post(path, call('nope'))
    await post(path, batch('eth_gasPrice', 'nope'))
    expect(recorded).toEqual([])
    expect(admissions).toEqual(['key_n succeeded', 'key_n method_not_found', 'key_n method_not_found'])
  })

  test('a message of a WebSocket, with an id of its own', async () => {
    const { addApp, recorded, upstream } = await start()
    upstream.behave = (seen) => result(seen, '1')
    const { path, key } = addApp()
    const socket = await openSocket(path)
    await socket.call('eth_gasPrice')
    await socket.call('eth_fetchAll')
    socket.ws.terminate()
    expect(recorded).toMatchObject([
      { method: 'eth_gasPrice', outcome: 'succeeded', transport: 'websocket', keyEnding: key.slice(-4) },
      { method: 'eth_fetchAll', outcome: 'method_not_found', transport: 'websocket', secrets: [key] },
    ])
    expect(recorded[1]?.requestId).toMatch(/\.2$/)
    expect(recorded[1]?.requestId.slice(0, -2)).toBe(recorded[0]?.requestId.slice(0, -2))
  })

  test('no request with a test key', async () => {
    const { admissions, url } = await start({ testKeys: true })
    await post(`${url}/testnet/v2/kr_test_429`, call('eth_gasPrice'))
    await post(`${url}/testnet/v2/kr_test_quota`, call('eth_gasPrice'))
    expect(admissions).toEqual([])
  })
})

test('a recorder that throws does not fail a call', async () => {
  const requestRecorder: RequestRecorder = {
    admits: () => true,
    add: () => {
      throw new Error('the log is broken')
    },
  }
  const { addApp, entries } = await start({ requestRecorder })
  expect((await post(addApp().path, call('eth_gasPrice'))).status).toBe(200)
  expect(entries).toContainEqual({ event: 'fault', where: 'requestLog', code: 'other', count: 1 })
})
