import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createService, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import { readServiceConfig } from '../../src/service/readServiceConfig.ts'
import type { ServiceConfigInput } from '../../src/service/serviceConfig.ts'
import type { ServiceLogEntry } from '../../src/service/serviceLog.ts'
import { getSecrets } from '../../src/service/getSecrets.ts'
import { result, startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { chainIds, post } from '../startGateway.ts'
import { openSocket } from '../socket/openSocket.ts'
import { startCollector } from './collector.ts'
import type { Collector, ReceivedSpan } from './collector.ts'
import { getFreePort } from '../getFreePort.ts'
import { createVisitor } from './visitor.ts'

const toStop: (() => Promise<unknown> | void)[] = []
let collector: Collector
beforeEach(async () => {
  collector = await startCollector()
  toStop.push(() => collector.stop())
})
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const startNode = async (): Promise<FakeUpstream> => {
  const node = await startFakeUpstream(chainIds.testnet, '/v3/n0deKey')
  toStop.push(node.stop)
  return node
}

const start = async (
  tracing: ServiceConfigInput['tracing'] | null = { endpoint: collector.url, sampleRatio: 1 },
  more: Partial<ServiceConfigInput> = {},
) => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-tracing-'))
  toStop.push(() => rmSync(folder, { recursive: true, force: true }))
  const [first, second] = [await startNode(), await startNode()]
  const port = await getFreePort()
  const logged: ServiceLogEntry[] = []
  const configWith = (traced: ServiceConfigInput['tracing'] | null) =>
    parseServiceConfig({
      publicUrl: `http://127.0.0.1:${port}`,
      listen: { port },
      signUp: 'open',
      networks: {
        testnet: {
          chainId: chainIds.testnet,
          upstreams: [
            { url: first.url, name: 'one' },
            { url: second.url, name: 'two' },
          ],
        },
      },
      ...(traced === null ? {} : { tracing: traced }),
      ...more,
    })
  const service = await createService({
    config: configWith(tracing),
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
    storage: { file: join(folder, 'keyrail.db') },
    version: '1.2.3',
    log: (entry) => logged.push(entry),
  })
  toStop.push(() => service.close({ graceMs: 0 }))
  const { url } = await service.listen()
  const visitor = createVisitor(url)
  await visitor.get('POST /api/account', { body: { email: 'ann@example.org', password: 'plum tin roof gate' } })
  const { url: address } = await visitor.get('POST /api/keys', { body: { name: 'ci', network: 'testnet' } })
  return { service, configWith, first, second, address, logged }
}

const call = (method = 'eth_call', params = '[{"data":"0x5ec2e7"},"latest"]'): string =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
const json = { 'content-type': 'application/json' }
const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'

/** The spans of a trace: the request, and the others by name. */
const getTrace = (spans: readonly ReceivedSpan[]) => {
  const request = spans.find(({ kind }) => kind === 2)
  return { request, others: spans.filter(({ parentSpanId }) => parentSpanId === request?.spanId) }
}

describe('the config of tracing', () => {
  const config = {
    publicUrl: 'http://127.0.0.1:8080',
    networks: { testnet: { chainId: 1, upstreams: [{ url: 'http://127.0.0.1:8545' }] } },
  }

  test.each([
    [{ endpoint: 'collector:4318' }, 'endpoint'],
    [{ endpoint: 'http://collector:4318', sampleRatio: 2 }, 'sampleRatio'],
    [{ endpoint: 'http://collector:4318', headers: { 'bad header': 'x' } }, 'headers'],
    [{ sampleRatio: 1 }, 'endpoint'],
  ])('%o is rejected', (tracing, member) => {
    expect(() => parseServiceConfig({ ...config, tracing })).toThrow(`tracing.${member}`)
  })

  test('reads headers in files, and hides them in logs', () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyrail-tracing-'))
    toStop.push(() => rmSync(folder, { recursive: true, force: true }))
    const tracing = { endpoint: 'http://collector:4318', headers: { authorization: { file: 'token' } } }
    const file = join(folder, 'keyrail.config.json')
    writeFileSync(join(folder, 'token'), 'Bearer c0llectorT0ken\n')
    writeFileSync(file, JSON.stringify({ ...config, tracing }))
    const read = readServiceConfig(file, { environment: {} })
    expect(read.tracing).toMatchObject({ sampleRatio: 0.01, headers: { authorization: 'Bearer c0llectorT0ken' } })
    expect(getSecrets(read, {})).toContain('c0llectorT0ken')
  })
})

describe('tracing', () => {
  test('sends a span for the request, its steps and each attempt at a node, without keys, params and URLs of nodes', async () => {
    const { address, first, service } = await start({
      endpoint: collector.url,
      sampleRatio: 1,
      headers: { 'x-collector-key': 'c0llectorKey' },
    })
    first.behave = (_, response) => {
      response.statusCode = 500
      return 'broken'
    }
    const { status, headers } = await post(address, call())
    expect(status).toBe(200)
    await service.close()
    expect(collector.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'x-collector-key': 'c0llectorKey', 'content-type': 'application/json' },
    })
    const { request, others } = getTrace(collector.spans)
    expect(request).toMatchObject({
      name: 'eth_call',
      parentSpanId: undefined,
      isError: false,
      resource: { 'service.name': 'keyrail', 'service.version': '1.2.3' },
    })
    expect(request?.attributes).toEqual({
      'rpc.system.name': 'jsonrpc',
      'jsonrpc.protocol.version': '2.0',
      'rpc.method': 'eth_call',
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'keyrail.network': 'testnet',
      'keyrail.request_id': headers.get('x-request-id'),
    })
    expect(others.map(({ name, kind, isError }) => ({ name, kind, isError }))).toEqual([
      { name: 'admission', kind: 1, isError: false },
      { name: 'limits', kind: 1, isError: false },
      { name: 'eth_call', kind: 3, isError: true },
      { name: 'eth_call', kind: 3, isError: false },
    ])
    expect(others.map(({ attributes }) => attributes).slice(2)).toMatchObject([
      { 'keyrail.upstream': 'one', 'keyrail.attempt': 1, 'error.type': expect.any(String) as unknown },
      { 'keyrail.upstream': 'two', 'keyrail.attempt': 2 },
    ])
    for (const { durationMs } of collector.spans) expect(durationMs).toBeGreaterThanOrEqual(0)
    const key = new URL(address).pathname.split('/').at(-1) ?? ''
    for (const secret of [key, '5ec2e7', 'n0deKey', 'ann@example.org', new URL(first.url).host])
      expect(collector.text()).not.toContain(secret)
  })

  test('continues the trace of a caller at the node', async () => {
    const { address, first, service } = await start()
    const traceparent = `00-${traceId}-${parentId}-01`
    await post(address, call(), { headers: { ...json, traceparent, tracestate: 'congo=t61' } })
    await service.close()
    const { request, others } = getTrace(collector.spans)
    expect(request).toMatchObject({ traceId, parentSpanId: parentId })
    const sent = others.find(({ kind }) => kind === 3)
    expect(first.headers[0]).toMatchObject({
      traceparent: `00-${traceId}-${sent?.spanId}-01`,
      tracestate: 'congo=t61',
    })
  })

  test('an attempt whose contract reverts is no error of the node', async () => {
    const { address, first, service } = await start()
    first.behave = (seen) => `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":3,"message":"execution reverted"}}`
    await post(address, call())
    await service.close()
    const [sent] = getTrace(collector.spans).others.filter(({ kind }) => kind === 3)
    expect(sent).toMatchObject({ isError: false, attributes: { 'error.type': 'revert' } })
  })

  test('traces a batch and a rejected request', async () => {
    const { address, service } = await start()
    await post(address, `[${call()},${call('eth_chainId', '[]')},${call('eth_gasPrice', '[]')}]`)
    await post(
      address.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
      call(),
    )
    await service.close()
    const batch = collector.spans.find(({ name, kind }) => name === 'batch' && kind === 2)
    expect(batch?.attributes).toMatchObject({ 'rpc.method': 'batch', 'keyrail.batch_size': 3 })
    const sent = collector.spans.filter(({ kind, parentSpanId }) => kind === 3 && parentSpanId === batch?.spanId)
    expect(sent.length).toBeGreaterThan(0)
    expect(sent.some(({ attributes }) => Number(attributes['keyrail.batch_size']) > 1)).toBe(true)
    const rejected = collector.spans.find(({ attributes }) => attributes['http.response.status_code'] === 401)
    expect(rejected).toMatchObject({ name: 'request', isError: false, attributes: { 'error.type': 'key_unknown' } })
  })

  test('each message of a WebSocket is a trace of its own', async () => {
    const { address, service } = await start()
    const socket = await openSocket(address.replace('http', 'ws'))
    await socket.call('eth_gasPrice')
    await socket.call('eth_call', [{}, 'latest'])
    socket.ws.terminate()
    await service.close()
    const requests = collector.spans.filter(({ kind }) => kind === 2)
    expect(requests.map(({ name }) => name)).toEqual(['eth_gasPrice', 'eth_call'])
    expect(new Set(requests.map((span) => span.traceId)).size).toBe(2)
  })

  test('a caller behind a proxy cannot decide that it is traced, but its trace continues at the node', async () => {
    const trustedProxies = ['127.0.0.1']
    const { address, first, service } = await start({ endpoint: collector.url, sampleRatio: 0 }, { trustedProxies })
    await post(address, call(), { headers: { ...json, traceparent: `00-${traceId}-${parentId}-01` } })
    await post(address, call('eth_gasPrice', '[]'))
    expect(first.headers[0]?.['traceparent']).toBe(`00-${traceId}-${parentId}-00`)
    expect(first.headers[1]?.['traceparent']).toBeUndefined()
    await service.close()
    expect(collector.requests).toEqual([])
  })

  test.each([
    ['01', 0, 1],
    ['00', 1, 0],
  ])('with trustCallers a caller decides: flags %s with the ratio %s', async (flags, sampleRatio, traces) => {
    const { address, service } = await start({ endpoint: collector.url, sampleRatio, trustCallers: true })
    await post(address, call(), { headers: { ...json, traceparent: `00-${traceId}-${parentId}-${flags}` } })
    await service.close()
    expect(collector.spans.filter(({ kind }) => kind === 2)).toHaveLength(traces)
  })

  test('a reload turns it on, changes it and turns it off', async () => {
    const { address, service, configWith, first } = await start(null)
    await post(address, call())
    expect(first.headers.at(-1)?.['traceparent']).toBeUndefined()
    await service.reload(configWith({ endpoint: `${collector.url}/custom/path`, sampleRatio: 1 }))
    await post(address, call('eth_gasPrice', '[]'))
    expect(first.headers.at(-1)?.['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    await service.reload(configWith(null))
    await expect.poll(() => collector.requests.map(({ path }) => path)).toEqual(['/custom/path'])
    await post(address, call('eth_syncing', '[]'))
    expect(first.headers.at(-1)?.['traceparent']).toBeUndefined()
  })

  test('logs once that a collector does not accept spans, and calls go on', async () => {
    collector.status = 400
    const { address, logged, first } = await start()
    first.behave = (sent) => result(sent, '"0x2"')
    const warnings = () => logged.filter(({ event }) => event === 'warning')
    expect((await post(address, call())).status).toBe(200)
    await expect.poll(warnings).toMatchObject([
      {
        what: 'spans could not be sent to tracing.endpoint (HTTP 400): check that it is a collector of OTLP over HTTP',
      },
    ])
    expect((await post(address, call('eth_gasPrice', '[]'))).status).toBe(200)
    await expect.poll(() => collector.requests.length).toBe(2)
    expect(warnings()).toHaveLength(1)
  })

  test('logs that a collector cannot be reached', async () => {
    const port = await getFreePort()
    const { address, logged } = await start({ endpoint: `http://127.0.0.1:${port}`, sampleRatio: 1 })
    expect((await post(address, call('eth_gasPrice', '[]'))).status).toBe(200)
    await expect
      .poll(() => logged.filter(({ event }) => event === 'warning'))
      .toMatchObject([{ what: expect.stringContaining('(ECONNREFUSED)') as string }])
  })
})
