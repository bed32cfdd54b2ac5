import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type { FailureKind } from '@keyrail/core'
import type { TestClient } from '@keyrail/core/test/adapterVectors.ts'
import { createApiKey } from '@keyrail/gateway'
import { rejections } from '@keyrail/gateway/test/rejections.ts'
import type { Rejection } from '@keyrail/gateway/test/rejections.ts'
import { result, startFakeUpstream } from '@keyrail/gateway/test/fakeUpstream.ts'
import type { Behaviour } from '@keyrail/gateway/test/fakeUpstream.ts'
import { chainIds, unreachableUrl, post } from '@keyrail/gateway/test/startGateway.ts'
import { openTestGateway } from './openDeployment.ts'
import type { Deployment, TestGateway } from './openDeployment.ts'
import { toBytes, withBody } from './relay.ts'
import type { RelayedRequest, ReplaceRequest } from './relay.ts'

/** The name of a rejection in the table. */
export type RejectionName = keyof typeof rejections

/** The services that rows use. */
export interface Services {
  readonly service: Deployment
  /** A service whose quota rejections have status 429. */
  readonly strict: Deployment
  /** A service whose database is closed, with the path of a key that it has cached. */
  readonly lost: Deployment & { readonly knownPath: string }
}

/** The endpoint at which a call is rejected. */
export interface RejectionSetup {
  readonly port: number
  /** The path with the key. */
  readonly path: string
  /** Replaces requests before they reach the service. */
  readonly replace?: ReplaceRequest
  /** When calls are not rejected any more, by `performance.now`. @default never */
  readonly untilMs?: number
  /** @see startRelay */
  readonly started?: Socket[]
  /** The bodies that the node has received. */
  readonly atNode?: readonly string[]
  readonly close?: () => Promise<void>
}

/** A rejection, how to cause it, and what clients do. */
export interface Row {
  readonly rejection: RejectionName
  /** Distinguishes rows of the same rejection. */
  readonly when?: string
  /** Creates the rejection as the service does, so that the messages are equal. */
  readonly expected: () => Rejection
  /** The failure kind in the SDK. */
  readonly kind: FailureKind
  /** Opens an endpoint that rejects the call. */
  readonly open: (services: Services) => RejectionSetup | Promise<RejectionSetup>
  /** The status, if it is not that of the rejection: in a batch, each call has its own rejection under status 200. */
  readonly status?: 200
  /** @default a call of `eth_gasPrice` */
  readonly call?: (client: TestClient) => Promise<unknown>
  readonly batch?: boolean
  readonly retries?: boolean
  /** Clients whose call succeeds in the end, because they retry it or send it in another form. @default none */
  readonly succeeds?: readonly string[]
  /** The message of clients that do not show that of the rejection, and why. */
  readonly instead?: Readonly<Record<string, readonly [text: string, why: string]>>
  /** The least and the most requests of clients, if they differ from what the library does with similar rejections. */
  readonly requests?: Readonly<Record<string, readonly [least: number, most: number]>>
  /** Clients that are skipped, and why. */
  readonly without?: Readonly<Record<string, string>>
}

const at =
  (make: (services: Services) => string | Promise<string>, replace?: ReplaceRequest) =>
  async (services: Services): Promise<RejectionSetup> => ({
    port: services.service.port,
    path: await make(services),
    ...(replace === undefined ? {} : { replace }),
  })

// Created once, because thirty rows with eight clients each would need 240 apps.
const paths = new WeakMap<Deployment, Map<string, Promise<string>>>()
const madeOnce =
  (name: string, make: (services: Services) => Promise<string>) =>
  (services: Services): Promise<string> => {
    const ofService = paths.get(services.service) ?? new Map<string, Promise<string>>()
    paths.set(services.service, ofService)
    const path = ofService.get(name) ?? make(services)
    ofService.set(name, path)
    return path
  }

const acceptedPath = madeOnce('accepted', async ({ service }) => (await service.makeApp()).path)

/** A valid key, with a request that is changed before it reaches the service. */
const changed = (change: (request: RelayedRequest) => RelayedRequest): Row['open'] =>
  at(acceptedPath, (request) => toBytes(change(request)))
const withHeader =
  (name: string, value: string) =>
  (request: RelayedRequest): RelayedRequest => ({
    ...request,
    headers: [...request.headers, [name, value]],
  })
const withoutHeader = (request: RelayedRequest, unwanted: string): RelayedRequest => ({
  ...request,
  headers: request.headers.filter(([name]) => name.toLowerCase() !== unwanted),
})
const withJson =
  (change: object) =>
  (request: RelayedRequest): RelayedRequest =>
    withBody(request, JSON.stringify({ ...(JSON.parse(request.body) as object), ...change }))

const listed = (type: 'origin' | 'ip' | 'method' | 'address' | 'userAgent', value: string): Row['open'] =>
  at(
    madeOnce(`${type} list`, async ({ service }) => {
      const { id, path } = await service.makeApp()
      await service.ann.get('POST /api/apps/{appId}/allow-list', { params: { appId: id }, body: { type, value } })
      return path
    }),
  )

const behind = async (...options: Parameters<typeof openTestGateway>): Promise<RejectionSetup> => {
  const gateway = await openTestGateway(...options)
  return { port: gateway.port, path: gateway.path, atNode: gateway.node.bodies, close: gateway.close }
}

/** Opens connections and sends the start of a request before the gateway drains, so that it does not close them at once. */
const drained = async (): Promise<RejectionSetup> => {
  const gateway: TestGateway = await openTestGateway()
  const started = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const socket = connect(gateway.port, '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.write(`POST ${gateway.path} HTTP/1.1\r\nHost: x\r\n`)
      return socket
    }),
  )
  // The response comes after the gateway has read what was sent before.
  await fetch(`http://127.0.0.1:${gateway.port}/healthz`)
  gateway.drain()
  const rest: ReplaceRequest = (request) => toBytes(withoutHeader(request, 'host')).replace(/^.*\r\n/, '')
  return { port: gateway.port, path: gateway.path, started, replace: rest, close: gateway.close }
}

const other = `0x${'22'.repeat(20)}` as const
const call = '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'
const midnight = (): number => new Date().setUTCHours(24, 0, 0, 0)
const isUsedUp = { limit: 1, remaining: 0, rejectedBy: 'day' as const }
/** Reads the balances of several accounts in one batch. */
const balances =
  (count: number) =>
  (client: TestClient): Promise<unknown> =>
    Promise.all(
      (client.balances ?? ((addresses) => addresses.map(client.balance)))(
        Array.from({ length: count }, (_, digit) => `0x${String(digit).repeat(40)}`),
      ),
    )

/** Creates an app whose quota of one call a day is used up. */
const usedUp = async (deployment: Deployment): Promise<string> => {
  const { path } = await deployment.makeApp({ limits: { perDay: 1 } })
  await post(`http://127.0.0.1:${deployment.port}${path}`, call)
  return path
}
/** A second, minus the time from the relay to the service. */
const almostASecond = 900
/** Creates an app whose rate of one call a second has just been used. */
const tooFast = async ({ service }: Services): Promise<RejectionSetup> => {
  const { path } = await service.makeApp({ limits: { perSecond: 1, burst: 1 } })
  const untilMs = performance.now() + almostASecond
  await post(`http://127.0.0.1:${service.port}${path}`, call)
  return { port: service.port, path, untilMs }
}

const needsToken = async ({ ann, makeApp }: Deployment): Promise<string> => {
  const { id, path } = await makeApp()
  const params = { appId: id }
  const pem = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString()
  await ann.get('POST /api/apps/{appId}/jwt-keys', { params, body: { pem } })
  const { version } = await ann.get('GET /api/apps/{appId}', { params })
  await ann.get('PATCH /api/apps/{appId}', { params, body: { version, requireJwt: true } })
  return path
}

const ours = ['@keyrail/fetch', '@keyrail/viem', '@keyrail/ethers', '@keyrail/web3']
const ofOurs = (least: number, most: number): NonNullable<Row['requests']> =>
  Object.fromEntries(ours.map((name) => [name, [least, most] as const]))

/** viem retries each call of a batch three times, and joins calls whose waits end together. */
const retriedEach = (calls: number): readonly [number, number] => [4, 1 + 3 * calls]

/** If the response to a batch is not an array, viem finds no response for its calls, and shows neither message nor status. */
const blindBatch = {
  instead: { viem: ['An unknown RPC error occurred', 'reads the rejection as an array'] },
  requests: { viem: retriedEach(6) },
} satisfies Partial<Row>
/** viem has its own message for timeouts. That of Keyrail is in `failure`. */
const tookTooLong: Row['instead'] = { '@keyrail/viem': ['took too long to respond', 'is a `TimeoutError`'] }

/** A node that rejects ranges of more than 100 blocks, and whose last block changes with each query. */
const rejectRanges = (): Behaviour => {
  let blocks = 0
  return (seen) => {
    if (seen.method === 'eth_getBlockByNumber')
      return result(seen, `{"number":"0xc7","hash":"0x${String((blocks += 1)).padStart(64, '0')}","transactions":[]}`)
    const [{ fromBlock, toBlock }] = seen.params as [{ fromBlock: string; toBlock: string }]
    if (Number(toBlock) - Number(fromBlock) < 100) return result(seen, '[]')
    return `{"jsonrpc":"2.0","id":${seen.id},"error":{"code":-32602,"message":"block range too large, max range: 100"}}`
  }
}

/** Two nodes that disagree on a balance. @param upstream - The options of both. */
const behindTwo = async (upstream: { readonly group?: string } = {}): Promise<RejectionSetup> => {
  const nodes = await Promise.all([1, 2].map(() => startFakeUpstream(chainIds.testnet)))
  for (const [index, node] of nodes.entries()) node.behave = (seen) => result(seen, `"0x${index + 1}"`)
  const setup = await behind(undefined, {
    networks: {
      testnet: {
        chainId: chainIds.testnet,
        upstreams: nodes.map(({ url }) => ({ url, ...upstream })),
        confirm: [{ methods: ['eth_getBalance'] }],
      },
    },
  })
  const close = async (): Promise<void> => {
    await setup.close?.()
    await Promise.all(nodes.map((node) => node.stop()))
  }
  return { ...setup, atNode: nodes[0]?.bodies ?? [], close }
}

const readBalance = (client: TestClient): Promise<unknown> =>
  client.request('eth_getBalance', [`0x${'0'.repeat(40)}`, 'latest'])

/** Every rejection, at least once. */
export const rows: readonly Row[] = [
  {
    rejection: 'notFound',
    expected: rejections.notFound,
    kind: 'invalidRequest',
    open: at(async (services) => (await acceptedPath(services)).replace('/v2/', '/v1/')),
  },
  {
    rejection: 'unknownNetwork',
    expected: () => rejections.unknownNetwork('nowhere', undefined),
    kind: 'invalidRequest',
    open: at(async (services) => (await acceptedPath(services)).replace('/testnet/', '/nowhere/')),
  },
  {
    rejection: 'httpMethod',
    expected: rejections.httpMethod,
    kind: 'invalidRequest',
    open: changed((request) => ({ ...request, method: 'PUT' })),
  },
  {
    rejection: 'contentType',
    expected: rejections.contentType,
    kind: 'invalidRequest',
    open: changed((request) => withHeader('Content-Type', 'text/plain')(withoutHeader(request, 'content-type'))),
  },
  {
    rejection: 'expectationFailed',
    expected: rejections.expectationFailed,
    kind: 'invalidRequest',
    open: changed(withHeader('Expect', 'cake')),
  },
  {
    rejection: 'badHttp',
    expected: rejections.badHttp,
    kind: 'invalidRequest',
    open: changed((request) => withHeader('Transfer-Encoding', 'chunked')(withBody(request, request.body))),
  },
  {
    rejection: 'headersTooLarge',
    expected: rejections.headersTooLarge,
    kind: 'invalidRequest',
    open: changed(withHeader('X-Large', 'y'.repeat(200_000))),
  },
  {
    rejection: 'requestTimeout',
    expected: rejections.requestTimeout,
    kind: 'timeout',
    instead: tookTooLong,
    open: async () => ({
      ...(await behind(undefined, { bounds: { headersTimeoutMs: 1_000, requestTimeoutMs: 1_000 } })),
      replace: (request) => toBytes({ ...withBody(request, `${request.body}  `), body: request.body }),
    }),
  },
  {
    rejection: 'bodyTooLarge',
    expected: () => rejections.bodyTooLarge(10_000),
    kind: 'invalidRequest',
    open: at(acceptedPath),
    call: (client) => client.request('eth_call', [{ to: other, data: `0x${'ab'.repeat(10_000)}` }, 'latest']),
  },
  {
    rejection: 'keyUnknown',
    expected: rejections.keyUnknown,
    kind: 'auth',
    open: at(() => `/testnet/${createApiKey('testnet')}`),
  },
  {
    rejection: 'keyUnknown',
    when: 'in a batch',
    expected: rejections.keyUnknown,
    kind: 'auth',
    batch: true,
    ...blindBatch,
    open: at(() => `/testnet/${createApiKey('testnet')}`),
    call: balances(6),
  },
  {
    rejection: 'keyUnknownLimited',
    expected: () => rejections.keyUnknownLimited({ retryAfterMs: 1, nowMs: 0 }),
    kind: 'auth',
    instead: { ethers: ['Invalid API key', 'retries any 429 until it gets 401'] },
    requests: { ethers: [2, 12] },
    open: async () => {
      const setup = await behind(undefined, { unknownKeys: { perSecond: 1, burst: 1 } })
      const path = `/testnet/${createApiKey('testnet')}`
      const untilMs = performance.now() + almostASecond
      await post(`http://127.0.0.1:${setup.port}${path}`, call)
      return { ...setup, path, untilMs }
    },
  },
  {
    rejection: 'keyRevoked',
    expected: rejections.keyRevoked,
    kind: 'auth',
    open: at(
      madeOnce('revoked', async ({ service }) => {
        const { id, path } = await service.makeKey()
        await service.ann.get('POST /api/keys/{keyId}/revoke', { params: { keyId: id } })
        return path
      }),
    ),
  },
  {
    rejection: 'keyExpired',
    expected: rejections.keyExpired,
    kind: 'auth',
    open: at(
      madeOnce('expired', async ({ service }) => {
        const { id, path } = await service.makeApp()
        const endsAt = Date.now() + 1_000
        await service.ann.get('PUT /api/apps/{appId}/key/expiry', {
          params: { appId: id },
          body: { expiresAt: new Date(endsAt).toISOString() },
        })
        await new Promise((resolve) => setTimeout(resolve, endsAt + 1 - Date.now()))
        return path
      }),
    ),
  },
  {
    rejection: 'keyDisabled',
    expected: rejections.keyDisabled,
    kind: 'auth',
    open: at(({ service }) => service.disabledPath),
  },
  {
    rejection: 'keyWrongPath',
    expected: () => rejections.keyWrongPath('app', 'testnet'),
    kind: 'auth',
    open: at(async (services) => (await acceptedPath(services)).replace('/v2/', '/')),
  },
  {
    rejection: 'keyStoreUnavailable',
    expected: rejections.keyStoreUnavailable,
    kind: 'unavailable',
    open: ({ lost }) => ({ port: lost.port, path: `/testnet/${createApiKey('testnet')}` }),
  },
  {
    rejection: 'limitsUnavailable',
    expected: rejections.limitsUnavailable,
    kind: 'unavailable',
    open: ({ lost }) => ({ port: lost.port, path: lost.knownPath }),
  },
  {
    rejection: 'wrongNetwork',
    expected: () => rejections.wrongNetwork('mainnet', 'apiKey', ['testnet']),
    kind: 'wrongNetwork',
    open: at(
      madeOnce('testnet key', async ({ service }) => (await service.makeKey()).path.replace('/testnet/', '/mainnet/')),
    ),
  },
  {
    rejection: 'serviceOff',
    expected: rejections.serviceOff,
    kind: 'forbidden',
    open: at(madeOnce('no service', async ({ service }) => (await service.makeApp({ services: [] })).path)),
  },
  {
    rejection: 'ipNotAllowed',
    expected: rejections.ipNotAllowed,
    kind: 'forbidden',
    open: listed('ip', '203.0.113.0/24'),
  },
  {
    rejection: 'originNotAllowed',
    expected: rejections.originNotAllowed,
    kind: 'forbidden',
    open: listed('origin', 'https://app.example.com'),
  },
  {
    rejection: 'userAgentNotAllowed',
    expected: rejections.userAgentNotAllowed,
    kind: 'forbidden',
    open: listed('userAgent', 'ExampleWallet/'),
  },
  {
    rejection: 'methodNotAllowed',
    expected: () => rejections.methodNotAllowed('eth_gasPrice'),
    kind: 'forbidden',
    open: listed('method', 'eth_chainId'),
  },
  {
    rejection: 'addressNotAllowed',
    expected: () => rejections.addressNotAllowed(other),
    kind: 'forbidden',
    open: listed('address', `0x${'11'.repeat(20)}`),
    call: (client) => client.balance(other),
  },
  {
    rejection: 'notAllowedWithAddresses',
    expected: () => rejections.notAllowedWithAddresses('call without an address'),
    kind: 'forbidden',
    open: listed('address', `0x${'11'.repeat(20)}`),
    call: (client) => client.request('eth_simulateV1', [{ blockStateCalls: [] }, 'latest']),
  },
  {
    rejection: 'tracerNotAllowed',
    expected: () => rejections.tracerNotAllowed('tracer "myTracer"'),
    kind: 'forbidden',
    open: at(acceptedPath),
    instead: {
      ethers: ['rejected due to service settings: tracer', 'shows the body as JSON, with its quotes escaped'],
    },
    call: (client) => client.request('debug_traceCall', [{ to: other }, 'latest', { tracer: 'myTracer' }]),
  },
  {
    rejection: 'methodNotAllowed',
    when: 'in a batch',
    status: 200,
    batch: true,
    expected: () => rejections.methodNotAllowed('eth_getBalance'),
    kind: 'forbidden',
    open: listed('method', 'eth_chainId'),
    call: balances(3),
  },
  {
    rejection: 'jwtInvalid',
    expected: () => rejections.jwtInvalid('missing', 'no token was sent: use Authorization: Bearer'),
    kind: 'auth',
    open: at(madeOnce('needs a token', ({ service }) => needsToken(service))),
  },
  {
    rejection: 'rateLimited',
    when: 'with retries',
    expected: () => rejections.rateLimited({ perSecond: 1, retryAfterMs: 1, currentPerSecond: 2, nowMs: 0 }),
    kind: 'throttled',
    open: tooFast,
    succeeds: ['viem', 'ethers', ...ours],
    // The reported wait is long enough, so the first retry succeeds.
    requests: { ...ofOurs(2, 2), viem: [2, 4], ethers: [2, 12] },
  },
  {
    rejection: 'rateLimited',
    when: 'without retries',
    retries: false,
    expected: () => rejections.rateLimited({ perSecond: 1, retryAfterMs: 1, currentPerSecond: 2, nowMs: 0 }),
    kind: 'throttled',
    open: tooFast,
  },
  {
    rejection: 'quotaExceeded',
    expected: () => rejections.quotaExceeded({ ...isUsedUp, resetAtMs: midnight() }, 403),
    kind: 'quota',
    open: at(madeOnce('used up', ({ service }) => usedUp(service))),
  },
  {
    rejection: 'quotaExceeded',
    when: 'in a batch',
    batch: true,
    ...blindBatch,
    expected: () => rejections.quotaExceeded({ ...isUsedUp, resetAtMs: midnight() }, 403),
    kind: 'quota',
    open: at(madeOnce('used up', ({ service }) => usedUp(service))),
    call: balances(3),
    requests: { viem: retriedEach(3) },
  },
  {
    rejection: 'quotaExceeded',
    when: 'as 429',
    expected: () => rejections.quotaExceeded({ ...isUsedUp, resetAtMs: midnight() }, 429),
    kind: 'quota',
    open: async ({ strict }) => ({ port: strict.port, path: await usedUp(strict) }),
    without: { ethers: 'retries a 429 for four minutes, which is why 403 is the default' },
  },
  {
    rejection: 'parseError',
    expected: rejections.parseError,
    kind: 'invalidRequest',
    open: changed((request) => withBody(request, request.body.slice(0, -1))),
  },
  {
    rejection: 'tooDeep',
    expected: () => rejections.tooDeep(64),
    kind: 'invalidRequest',
    open: changed((request) => withBody(request, `${'['.repeat(65)}${']'.repeat(65)}`)),
  },
  {
    rejection: 'invalidRequest',
    expected: rejections.invalidRequest,
    kind: 'invalidRequest',
    open: changed(withJson({ jsonrpc: '1.0' })),
  },
  {
    rejection: 'emptyBatch',
    expected: rejections.emptyBatch,
    kind: 'invalidRequest',
    open: changed((request) => withBody(request, '[]')),
  },
  {
    rejection: 'batchTooLarge',
    expected: () => rejections.batchTooLarge(6, 5),
    kind: 'batchTooLarge',
    batch: true,
    open: at(acceptedPath),
    call: balances(6),
    // viem retries each call of the batch separately. On a busy machine it may send two smaller batches, and both succeed.
    retries: false,
    instead: blindBatch.instead,
    succeeds: ours,
    requests: ofOurs(3, 3),
  },
  {
    rejection: 'invalidParams',
    expected: rejections.invalidParams,
    kind: 'invalidRequest',
    open: changed(withJson({ params: 'x' })),
  },
  {
    rejection: 'methodNotFound',
    expected: () => rejections.methodNotFound('eth_sign'),
    kind: 'methodUnavailable',
    open: at(acceptedPath),
    call: (client) => client.request('eth_sign', []),
  },
  {
    rejection: 'noUpstream',
    expected: () => rejections.noUpstream('testnet'),
    kind: 'unavailable',
    open: () =>
      behind(undefined, {
        networks: {
          testnet: { chainId: 31_337, upstreams: [{ url: unreachableUrl }] },
          mainnet: { chainId: 1_337, upstreams: [{ url: unreachableUrl }] },
        },
      }),
  },
  {
    rejection: 'upstreamBusy',
    expected: rejections.upstreamBusy,
    kind: 'unavailable',
    open: () => behind((_, response) => void response.writeHead(429).end()),
  },
  {
    rejection: 'upstreamTimeout',
    expected: () => rejections.upstreamTimeout(200),
    kind: 'timeout',
    instead: tookTooLong,
    open: () => behind(() => undefined, { bounds: { upstreamTimeoutMs: 200 } }),
  },
  {
    rejection: 'upstreamBad',
    expected: rejections.upstreamBad,
    kind: 'unavailable',
    open: () => behind(() => '<html>'),
  },
  {
    rejection: 'responseTooLarge',
    expected: () => rejections.responseTooLarge(500),
    kind: 'range',
    open: () => behind((seen) => result(seen, `"${'x'.repeat(600)}"`), { bounds: { maxResponseBytes: 500 } }),
  },
  {
    rejection: 'chainReorganized',
    expected: rejections.chainReorganized,
    kind: 'unavailable',
    open: () => behind(rejectRanges()),
    call: (client) => client.request('eth_getLogs', [{ fromBlock: '0x0', toBlock: '0xc7' }]),
  },
  {
    rejection: 'tooFewNodes',
    expected: () => rejections.tooFewNodes(2, 1),
    kind: 'unavailable',
    open: () => behindTwo({ group: 'one' }),
    call: readBalance,
  },
  {
    rejection: 'nodesDisagree',
    expected: () => rejections.nodesDisagree(2, 100),
    kind: 'unavailable',
    open: () => behindTwo(),
    call: readBalance,
  },
  {
    rejection: 'draining',
    expected: rejections.draining,
    kind: 'unavailable',
    open: drained,
  },
]
