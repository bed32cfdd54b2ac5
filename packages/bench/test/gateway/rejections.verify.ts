import { inspect } from 'node:util'
import { isKeyrailError } from '@keyrail/core'
import type { KeyrailError } from '@keyrail/core'
import { findLeaks } from '@keyrail/core/test/leakWalk.ts'
import { rejections } from '@keyrail/gateway/test/rejections.ts'
import type { Rejection } from '@keyrail/gateway/test/rejections.ts'
import { chainIds } from '@keyrail/gateway/test/startGateway.ts'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clients } from './clients.ts'
import type { Client } from './clients.ts'
import { openLost, openDeployment } from './openDeployment.ts'
import { startRelay } from './relay.ts'
import { rows } from './rejectionRows.ts'
import type { Row, World } from './rejectionRows.ts'

let world: World

beforeAll(async () => {
  world = { service: await openDeployment(), strict: await openDeployment(429), lost: await openLost() }
}, 120_000)
afterAll(async () => {
  for (const one of Object.values(world)) await one.close()
})

/** The default deadline of ours, and a while for a busy machine. */
const longestMs = 25_000

/** How a call ended, and what was seen of it on the way. */
interface Ended {
  readonly value?: unknown
  readonly error?: Error
  readonly requests: number
  readonly tookMs: number
  /** Where the key was found. */
  readonly leaks: readonly string[]
}

type Ask = NonNullable<Row['ask']>
const gasPrice: Ask = (face) => face.request('eth_gasPrice', [])

/** Asks as a client does, until it has its answer or its error. Where the machine was too busy to ask in time, again. */
const askAs = async (client: Client, row: Row, ask?: Ask): Promise<Ended> => {
  for (let tries = 0; tries < 10; tries += 1) {
    const ended = await askOnce(client, row, ask)
    if (ended !== 'tooLate') return ended
  }
  throw new Error('no call came before its rate had recovered')
}

const askOnce = async (client: Client, row: Row, ask: Ask = row.ask ?? gasPrice): Promise<Ended | 'tooLate'> => {
  const { batch = false, retries = true } = row
  const scene = await row.open(world)
  const relay = await startRelay(scene.port, scene)
  const face = client.open({ url: `${relay.url}${scene.path}`, chainId: chainIds.testnet, batch, retries })
  try {
    const startedAt = performance.now()
    const end = await ask(face).then(
      (value) => ({ value }),
      (error: Error) => ({ error }),
    )
    const tookMs = performance.now() - startedAt
    if (relay.firstAt() > (scene.untilMs ?? Infinity)) return 'tooLate'
    const key = scene.path.slice(scene.path.lastIndexOf('/') + 1)
    // Libraries with a provider of their own put the address into their errors, and the key with it: that is not the service's doing.
    const shown = { answers: relay.answered(), ...(client.ours ? end : {}) }
    return { ...end, requests: relay.passed.length, tookMs, leaks: findLeaks(shown, key) }
  } finally {
    face.close()
    await relay.close()
    await scene.close?.()
  }
}

/** What an error tells in its message. web3 looks for an id in the answer, and says nothing but in `cause` where there is none. */
const getMessage = ({ name }: Client, error: Error): string =>
  name === 'web3' ? `${error.message} ${(error.cause as Error | undefined)?.message ?? ''}` : error.message

/** Ours as each library carries it: itself, beside its own error, or beside one that it made its own from. */
const findFailure = (error: unknown): KeyrailError => {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { failure } = one as { failure?: unknown }
    if (isKeyrailError(one)) return one
    if (isKeyrailError(failure)) return failure
  }
  throw new Error(`no failure of Keyrail is told: ${inspect(error)}`)
}

/** How often each library asks by default where it gets such an answer. */
const getRequestRange = (client: Client, row: Row, { code, status }: Rejection): readonly [number, number] => {
  const given = row.requests?.[client.name]
  if (given !== undefined) return given
  if (row.retries === false) return [1, 1]
  // viem goes by these codes, whatever the status.
  if (client.name === 'viem') return [-32005, -32603].includes(code) ? [4, 4] : [1, 1]
  if (!client.ours) return [1, 1]
  const passes = ['unavailable', 'timeout', 'throttled'].includes(row.kind)
  return passes && status >= 400 ? [4, 4] : [1, 1]
}

/** A POST cannot cause these, or not without subscriptions. */
const ofWebSockets = ['badHandshake', 'tooManyConnections', 'useWebSocket']

test('every rejection of the table has a row', () => {
  const expected = Object.keys(rejections).filter((name) => !ofWebSockets.includes(name))
  expect([...new Set(rows.map(({ rejection }) => rejection))].toSorted()).toEqual(expected.toSorted())
})

test('the search for the key finds a key that a library shows', async () => {
  const [row, viem] = [
    rows.find(({ rejection }) => rejection === 'serviceOff'),
    clients.find(({ name }) => name === 'viem'),
  ]
  if (row === undefined || viem === undefined) throw new Error('there is no such row or client')
  expect((await askAs({ ...viem, ours: true }, row)).leaks).not.toEqual([])
})

const cases = rows.flatMap((row) =>
  clients
    .filter(({ name }) => row.without?.[name] === undefined)
    .map((client) => [[row.rejection, row.when, 'to', client.name].filter(Boolean).join(' '), row, client] as const),
)

describe('each client shows the rejection correctly', () => {
  test.concurrent.each(cases)(
    '%s',
    async (_, row, client) => {
      const rejection = { ...row.expected(), ...(row.status === undefined ? {} : { status: row.status }) }
      const { value, error, requests, tookMs, leaks } = await askAs(client, row)
      const [least, most] = getRequestRange(client, row, rejection)
      expect(leaks).toEqual([])
      expect(requests, String(error)).toBeGreaterThanOrEqual(least)
      expect(requests, String(error)).toBeLessThanOrEqual(most)
      expect(tookMs).toBeLessThan(longestMs)
      if (row.answered?.includes(client.name) === true) {
        expect([error, [value].flat().every((one) => one === '0x1')]).toEqual([undefined, true])
        return
      }
      if (error === undefined) throw new Error(`it was answered: ${inspect(value)}`)
      const [text] = row.instead?.[client.name] ?? [rejection.message]
      expect(getMessage(client, error)).toContain(text)
      if (client.name === 'fetch') {
        const { status, code, message, reason } = rejection
        expect(error).toMatchObject({ status, error: { code, message, data: { reason } } })
      }
      if (!client.ours) return
      if (row.batch === true && client.name === '@keyrail/web3') {
        // The calls of its batches fail with error objects, which hold a code and a message only.
        expect(error.message).toContain(`failed (${row.kind}, HTTP ${rejection.status}, code ${rejection.code}, `)
        return
      }
      const { kind, source, retryable, status, rpcError, message } = findFailure(error)
      expect({ kind, source, status, rpcError }).toMatchObject({
        kind: row.kind,
        source: 'service',
        status: rejection.status,
        rpcError: { code: rejection.code, message: rejection.message, data: { reason: rejection.reason } },
      })
      expect(message).toContain(rejection.message)
      expect(retryable).toBe(['unavailable', 'timeout', 'throttled'].includes(kind))
    },
    90_000,
  )
})

const behindTheService = rows.filter(({ rejection }) =>
  ['upstreamTimeout', 'upstreamBad', 'upstreamBusy'].includes(rejection),
)
const writes = behindTheService.flatMap((row) =>
  clients.filter(({ ours }) => ours).map((client) => [`${row.rejection} to ${client.name}`, row, client] as const),
)

describe('a transaction that a node may have taken is not sent again', () => {
  test.concurrent.each(writes)(
    '%s',
    async (_, row, client) => {
      const raw = await Wallet.createRandom().signTransaction({ to: Wallet.createRandom().address, chainId: 31_337n })
      let atNode: readonly string[] = []
      const seen: Row = {
        ...row,
        open: async (given) => {
          const scene = await row.open(given)
          atNode = scene.atNode ?? []
          return scene
        },
      }
      const { error, leaks, tookMs } = await askAs(client, seen, (face) => face.send(raw))
      expect(error).toBeInstanceOf(Error)
      // What the service could not pass on, as to a node that it takes for ill, may come to it again.
      expect([atNode.filter((body) => body.includes('eth_sendRawTransaction')).length, leaks]).toEqual([1, []])
      expect(tookMs).toBeLessThan(longestMs)
    },
    90_000,
  )
})
