import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type { FailureKind } from '@keyrail/core'
import type { TestClient } from '@keyrail/core/test/adapterVectors.ts'
import { createApiKey } from '@keyrail/gateway'
import { rejections } from '@keyrail/gateway/test/rejections.ts'
import type { Rejection } from '@keyrail/gateway/test/rejections.ts'
import { result } from '@keyrail/gateway/test/fakeUpstream.ts'
import type { Behaviour } from '@keyrail/gateway/test/fakeUpstream.ts'
import { nothingThere, post } from '@keyrail/gateway/test/startGateway.ts'
import { openTestGateway } from './openDeployment.ts'
import type { Deployment, TestGateway } from './openDeployment.ts'
import { toBytes, withBody } from './relay.ts'
import type { Meddle, Passing } from './relay.ts'

/** The name of a rejection in the table. */
export type RejectionName = keyof typeof rejections

/** The services that rows use. */
export interface World {
  readonly service: Deployment
  /** One whose quota rejections have status 429. */
  readonly strict: Deployment
  /** One whose database is gone; and the path of a key that it remembers. */
  readonly lost: Deployment & { readonly knownPath: string }
}

/** Where a call is rejected. */
export interface Scene {
  readonly port: number
  /** Holds the key. */
  readonly path: string
  /** Changes requests on their way. */
  readonly meddle?: Meddle
  /** Until when a call is rejected here, by `performance.now`; one that comes later says nothing. @default for ever */
  readonly untilMs?: number
  /** @see startRelay */
  readonly started?: Socket[]
  /** The bodies that a node got. */
  readonly atNode?: readonly string[]
  readonly close?: () => Promise<void>
}

/** A rejection, how it is brought about, and what clients make of it. */
export interface Row {
  readonly rejection: RejectionName
  /** Told beside the rejection's name, where there are several rows of one. */
  readonly when?: string
  /** Written by the rejection's own maker, so that its words cannot differ. */
  readonly expected: () => Rejection
  /** The kind of failure that it is to ours. */
  readonly kind: FailureKind
  /** Brings it about. */
  readonly open: (world: World) => Scene | Promise<Scene>
  /** Where that is another than the rejection's own: in a batch each call has its own rejection, under a good status. */
  readonly status?: 200
  /** @default a call of `eth_gasPrice` */
  readonly ask?: (face: TestClient) => Promise<unknown>
  readonly batch?: boolean
  readonly retries?: boolean
  /** Clients that ask again, or otherwise, and are answered. @default none */
  readonly answered?: readonly string[]
  /** The message of a client that does not show the rejection's, and why. By client. */
  readonly instead?: Readonly<Record<string, readonly [text: string, why: string]>>
  /** The least and the most requests of a client, where these are not what its library does with any such answer. By client. */
  readonly requests?: Readonly<Record<string, readonly [least: number, most: number]>>
  /** Clients that are not tried, and why. */
  readonly without?: Readonly<Record<string, string>>
}

const at =
  (make: (world: World) => string | Promise<string>, meddle?: Meddle) =>
  async (world: World): Promise<Scene> => ({
    port: world.service.port,
    path: await make(world),
    ...(meddle === undefined ? {} : { meddle }),
  })

// Made once: thirty rows times eight clients would be as many apps.
const paths = new WeakMap<Deployment, Map<string, Promise<string>>>()
const madeOnce =
  (name: string, make: (world: World) => Promise<string>) =>
  (world: World): Promise<string> => {
    const held = paths.get(world.service) ?? new Map<string, Promise<string>>()
    paths.set(world.service, held)
    const path = held.get(name) ?? make(world)
    held.set(name, path)
    return path
  }

const goodPath = madeOnce('good', async ({ service }) => (await service.makeApp()).path)

/** A good key, and a request that is spoiled on its way. */
const spoiled = (spoil: (passing: Passing) => Passing): Row['open'] =>
  at(goodPath, (passing) => toBytes(spoil(passing)))
const withHeader =
  (name: string, value: string) =>
  (passing: Passing): Passing => ({
    ...passing,
    headers: [...passing.headers, [name, value]],
  })
const withoutHeader = (passing: Passing, unwanted: string): Passing => ({
  ...passing,
  headers: passing.headers.filter(([name]) => name.toLowerCase() !== unwanted),
})
const withJson =
  (change: object) =>
  (passing: Passing): Passing =>
    withBody(passing, JSON.stringify({ ...(JSON.parse(passing.body) as object), ...change }))

const listed = (type: 'origin' | 'ip' | 'method' | 'address' | 'userAgent', value: string): Row['open'] =>
  at(
    madeOnce(`${type} list`, async ({ service }) => {
      const { id, path } = await service.makeApp()
      await service.ann.get('POST /api/apps/{appId}/allow-list', { params: { appId: id }, body: { type, value } })
      return path
    }),
  )

const behind = async (...options: Parameters<typeof openTestGateway>): Promise<Scene> => {
  const gateway = await openTestGateway(...options)
  return { port: gateway.port, path: gateway.path, atNode: gateway.node.bodies, close: gateway.close }
}

/** Connections on which the beginning of a request was sent before draining began: who closes at once would cut them off. */
const drained = async (): Promise<Scene> => {
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
  // Answered only after what was sent before it has been read.
  await fetch(`http://127.0.0.1:${gateway.port}/healthz`)
  gateway.drain()
  const rest: Meddle = (passing) => toBytes(withoutHeader(passing, 'host')).replace(/^.*\r\n/, '')
  return { port: gateway.port, path: gateway.path, started, meddle: rest, close: gateway.close }
}

const other = `0x${'22'.repeat(20)}` as const
const call = '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'
const midnight = (): number => new Date().setUTCHours(24, 0, 0, 0)
const isUsedUp = { limit: 1, remaining: 0, rejectedBy: 'day' as const }
/** Balances of so many accounts, in one batch. */
const balances =
  (count: number) =>
  (face: TestClient): Promise<unknown> =>
    Promise.all(
      (face.balances ?? ((addresses) => addresses.map(face.balance)))(
        Array.from({ length: count }, (_, digit) => `0x${String(digit).repeat(40)}`),
      ),
    )

/** An app that may make one call a day, which it has made. */
const usedUp = async (deployment: Deployment): Promise<string> => {
  const { path } = await deployment.makeApp({ limits: { perDay: 1 } })
  await post(`http://127.0.0.1:${deployment.port}${path}`, call)
  return path
}
/** A second, but for the way from the relay to the service. */
const aSecond = 900
/** An app that may make one call a second, which it has just made. */
const tooFast = async ({ service }: World): Promise<Scene> => {
  const { path } = await service.makeApp({ limits: { perSecond: 1, burst: 1 } })
  const untilMs = performance.now() + aSecond
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

/** viem asks three times more for each call of a batch, for those together whose waits happen to end together. */
const thrice = (calls: number): readonly [number, number] => [4, 1 + 3 * calls]

/** viem makes the calls of a batch its own, and finds none in an answer that is no list: it shows neither message nor status. */
const blindBatch = {
  instead: { viem: ['An unknown RPC error occurred', 'looks for the first of a list in the one rejection'] },
  requests: { viem: thrice(6) },
} satisfies Partial<Row>
/** viem has words of its own for what took too long; ours stand in `failure`. */
const tookTooLong: Row['instead'] = { '@keyrail/viem': ['took too long to respond', 'is a `TimeoutError`'] }

/** A node that rejects ranges of more than 100 blocks, and whose last block is another one each time. */
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

/** Every rejection, at least once. */
export const rows: readonly Row[] = [
  {
    rejection: 'notFound',
    expected: rejections.notFound,
    kind: 'invalidRequest',
    open: at(async (world) => (await goodPath(world)).replace('/v2/', '/v1/')),
  },
  {
    rejection: 'unknownNetwork',
    expected: () => rejections.unknownNetwork('nowhere'),
    kind: 'invalidRequest',
    open: at(async (world) => (await goodPath(world)).replace('/testnet/', '/nowhere/')),
  },
  {
    rejection: 'httpMethod',
    expected: rejections.httpMethod,
    kind: 'invalidRequest',
    open: spoiled((passing) => ({ ...passing, method: 'PUT' })),
  },
  {
    rejection: 'contentType',
    expected: rejections.contentType,
    kind: 'invalidRequest',
    open: spoiled((passing) => withHeader('Content-Type', 'text/plain')(withoutHeader(passing, 'content-type'))),
  },
  {
    rejection: 'expectationFailed',
    expected: rejections.expectationFailed,
    kind: 'invalidRequest',
    open: spoiled(withHeader('Expect', 'cake')),
  },
  {
    rejection: 'badHttp',
    expected: rejections.badHttp,
    kind: 'invalidRequest',
    open: spoiled((passing) => withHeader('Transfer-Encoding', 'chunked')(withBody(passing, passing.body))),
  },
  {
    rejection: 'headersTooLarge',
    expected: rejections.headersTooLarge,
    kind: 'invalidRequest',
    open: spoiled(withHeader('X-Large', 'y'.repeat(200_000))),
  },
  {
    rejection: 'requestTimeout',
    expected: rejections.requestTimeout,
    kind: 'timeout',
    instead: tookTooLong,
    open: async () => ({
      ...(await behind(undefined, { limits: { headersTimeoutMs: 1_000, requestTimeoutMs: 1_000 } })),
      meddle: (passing) => toBytes({ ...withBody(passing, `${passing.body}  `), body: passing.body }),
    }),
  },
  {
    rejection: 'bodyTooLarge',
    expected: () => rejections.bodyTooLarge(10_000),
    kind: 'invalidRequest',
    open: at(goodPath),
    ask: (face) => face.request('eth_call', [{ to: other, data: `0x${'ab'.repeat(10_000)}` }, 'latest']),
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
    ask: balances(6),
  },
  {
    rejection: 'keyUnknownLimited',
    expected: () => rejections.keyUnknownLimited({ retryAfterMs: 1, nowMs: 0 }),
    kind: 'auth',
    instead: { ethers: ['Invalid API key', 'retries any 429 until it gets 401'] },
    requests: { ethers: [2, 12] },
    open: async () => {
      const scene = await behind(undefined, { unknownKeys: { perSecond: 1, burst: 1 } })
      const path = `/testnet/${createApiKey('testnet')}`
      const untilMs = performance.now() + aSecond
      await post(`http://127.0.0.1:${scene.port}${path}`, call)
      return { ...scene, path, untilMs }
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
    open: at(async (world) => (await goodPath(world)).replace('/v2/', '/')),
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
    expected: () => rejections.wrongNetwork('mainnet', ['testnet']),
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
    ask: (face) => face.balance(other),
  },
  {
    rejection: 'notAllowedWithAddresses',
    expected: () => rejections.notAllowedWithAddresses('call without an address'),
    kind: 'forbidden',
    open: listed('address', `0x${'11'.repeat(20)}`),
    ask: (face) => face.request('eth_simulateV1', [{ blockStateCalls: [] }, 'latest']),
  },
  {
    rejection: 'tracerNotAllowed',
    expected: () => rejections.tracerNotAllowed('tracer "myTracer"'),
    kind: 'forbidden',
    open: at(goodPath),
    instead: {
      ethers: ['rejected due to service settings: tracer', 'shows the body as JSON, with its quotes escaped'],
    },
    ask: (face) => face.request('debug_traceCall', [{ to: other }, 'latest', { tracer: 'myTracer' }]),
  },
  {
    rejection: 'methodNotAllowed',
    when: 'in a batch',
    status: 200,
    batch: true,
    expected: () => rejections.methodNotAllowed('eth_getBalance'),
    kind: 'forbidden',
    open: listed('method', 'eth_chainId'),
    ask: balances(3),
  },
  {
    rejection: 'jwtInvalid',
    expected: () => rejections.jwtInvalid('missing', 'no token was sent: use Authorization: Bearer'),
    kind: 'auth',
    open: at(madeOnce('needs a token', ({ service }) => needsToken(service))),
  },
  {
    rejection: 'rateLimited',
    when: 'asked again',
    expected: () => rejections.rateLimited({ perSecond: 1, retryAfterMs: 1, currentPerSecond: 2, nowMs: 0 }),
    kind: 'throttled',
    open: tooFast,
    answered: ['viem', 'ethers', ...ours],
    // The reported wait is long enough: the second time is the last.
    requests: { ...ofOurs(2, 2), viem: [2, 4], ethers: [2, 12] },
  },
  {
    rejection: 'rateLimited',
    when: 'not asked again',
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
    status: 200,
    batch: true,
    expected: () => rejections.quotaExceeded({ ...isUsedUp, resetAtMs: midnight() }, 403),
    kind: 'quota',
    open: at(madeOnce('used up', ({ service }) => usedUp(service))),
    ask: balances(3),
    requests: { viem: thrice(3) },
  },
  {
    rejection: 'quotaExceeded',
    when: 'as 429',
    expected: () => rejections.quotaExceeded({ ...isUsedUp, resetAtMs: midnight() }, 429),
    kind: 'quota',
    open: async ({ strict }) => ({ port: strict.port, path: await usedUp(strict) }),
    without: { ethers: 'asks for four minutes on end where it gets 429, which is why 403 is the default' },
  },
  {
    rejection: 'parseError',
    expected: rejections.parseError,
    kind: 'invalidRequest',
    open: spoiled((passing) => withBody(passing, passing.body.slice(0, -1))),
  },
  {
    rejection: 'tooDeep',
    expected: () => rejections.tooDeep(64),
    kind: 'invalidRequest',
    open: spoiled((passing) => withBody(passing, `${'['.repeat(65)}${']'.repeat(65)}`)),
  },
  {
    rejection: 'invalidRequest',
    expected: rejections.invalidRequest,
    kind: 'invalidRequest',
    open: spoiled(withJson({ jsonrpc: '1.0' })),
  },
  {
    rejection: 'emptyBatch',
    expected: rejections.emptyBatch,
    kind: 'invalidRequest',
    open: spoiled((passing) => withBody(passing, '[]')),
  },
  {
    rejection: 'batchTooLarge',
    expected: () => rejections.batchTooLarge(6, 5),
    kind: 'batchTooLarge',
    batch: true,
    open: at(goodPath),
    ask: balances(6),
    // viem retries each call of the batch by itself: on a busy machine two smaller batches may leave, and both are answered.
    retries: false,
    instead: blindBatch.instead,
    answered: ours,
    requests: ofOurs(3, 3),
  },
  {
    rejection: 'invalidParams',
    expected: rejections.invalidParams,
    kind: 'invalidRequest',
    open: spoiled(withJson({ params: 'x' })),
  },
  {
    rejection: 'methodNotFound',
    expected: () => rejections.methodNotFound('eth_accounts'),
    kind: 'methodUnavailable',
    open: at(goodPath),
    ask: (face) => face.request('eth_accounts', []),
  },
  {
    rejection: 'noUpstream',
    expected: () => rejections.noUpstream('testnet'),
    kind: 'unavailable',
    open: () =>
      behind(undefined, {
        networks: {
          testnet: { chainId: 31_337, upstreams: [{ url: nothingThere }] },
          mainnet: { chainId: 1_337, upstreams: [{ url: nothingThere }] },
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
    open: () => behind(() => undefined, { limits: { upstreamTimeoutMs: 200 } }),
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
    open: () => behind((seen) => result(seen, `"${'x'.repeat(600)}"`), { limits: { maxResponseBytes: 500 } }),
  },
  {
    rejection: 'chainReorganized',
    expected: rejections.chainReorganized,
    kind: 'unavailable',
    open: () => behind(rejectRanges()),
    ask: (face) => face.request('eth_getLogs', [{ fromBlock: '0x0', toBlock: '0xc7' }]),
  },
  {
    rejection: 'draining',
    expected: rejections.draining,
    kind: 'unavailable',
    open: drained,
  },
]
