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
import type { Row, Services } from './rejectionRows.ts'

let services: Services

beforeAll(async () => {
  services = { service: await openDeployment(), strict: await openDeployment(429), lost: await openLost() }
}, 120_000)
afterAll(async () => {
  for (const one of Object.values(services)) await one.close()
})

/** The default timeout of Keyrail, plus some time for a busy machine. */
const longestMs = 25_000

/** How a call ended, and its requests. */
interface Outcome {
  readonly value?: unknown
  readonly error?: Error
  readonly requests: number
  readonly tookMs: number
  /** The texts that contain the key. */
  readonly leaks: readonly string[]
}

type MakeCall = NonNullable<Row['call']>
const gasPrice: MakeCall = (client) => client.request('eth_gasPrice', [])

/** Makes the call of a row with a client. Tries again if the machine was too busy to send it in time. */
const run = async (client: Client, row: Row, call?: MakeCall): Promise<Outcome> => {
  for (let tries = 0; tries < 10; tries += 1) {
    const outcome = await runOnce(client, row, call)
    if (outcome !== 'tooLate') return outcome
  }
  throw new Error('no call was sent before the rate had recovered')
}

const runOnce = async (
  client: Client,
  row: Row,
  call: MakeCall = row.call ?? gasPrice,
): Promise<Outcome | 'tooLate'> => {
  const { batch = false, retries = true } = row
  const setup = await row.open(services)
  const relay = await startRelay(setup.port, setup)
  const opened = client.open({ url: `${relay.url}${setup.path}`, chainId: chainIds.testnet, batch, retries })
  try {
    const startedAt = performance.now()
    const end = await call(opened).then(
      (value) => ({ value }),
      (error: Error) => ({ error }),
    )
    const tookMs = performance.now() - startedAt
    if (relay.firstAt() > (setup.untilMs ?? Infinity)) return 'tooLate'
    const key = setup.path.slice(setup.path.lastIndexOf('/') + 1)
    // Other libraries show the URL with the key in their errors, which the service cannot prevent.
    const shown = { responses: relay.received(), ...(client.ours ? end : {}) }
    // The port may be that of a server of another test before, which a client there still calls.
    const requests = relay.requests.filter(({ path }) => path === setup.path).length
    return { ...end, requests, tookMs, leaks: findLeaks(shown, key) }
  } finally {
    opened.close()
    await relay.close()
    await setup.close?.()
  }
}

/** The message of an error. If a response has no id, web3 shows its message only in `cause`. */
const getMessage = ({ name }: Client, error: Error): string =>
  name === 'web3' ? `${error.message} ${(error.cause as Error | undefined)?.message ?? ''}` : error.message

/** Finds the `KeyrailError` of an error: the error itself, its `failure`, or that of a cause. */
const findFailure = (error: unknown): KeyrailError => {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { failure } = one as { failure?: unknown }
    if (isKeyrailError(one)) return one
    if (isKeyrailError(failure)) return failure
  }
  throw new Error(`the error has no KeyrailError: ${inspect(error)}`)
}

/** The least and the most requests of a client for a rejection, with its default retries. */
const getRequestRange = (client: Client, row: Row, { code, status }: Rejection): readonly [number, number] => {
  const expected = row.requests?.[client.name]
  if (expected !== undefined) return expected
  if (row.retries === false) return [1, 1]
  // viem retries these codes, with any status.
  if (client.name === 'viem') return [-32005, -32603].includes(code) ? [4, 4] : [1, 1]
  if (!client.ours) return [1, 1]
  const isRetryable = ['unavailable', 'timeout', 'throttled'].includes(row.kind)
  return isRetryable && status >= 400 ? [4, 4] : [1, 1]
}

/** Rejections that a POST cannot cause, or only with subscriptions. */
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
  if (row === undefined || viem === undefined) throw new Error('the row or the client does not exist')
  expect((await run({ ...viem, ours: true }, row)).leaks).not.toEqual([])
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
      const { value, error, requests, tookMs, leaks } = await run(client, row)
      const [least, most] = getRequestRange(client, row, rejection)
      expect(leaks).toEqual([])
      expect(requests, String(error)).toBeGreaterThanOrEqual(least)
      expect(requests, String(error)).toBeLessThanOrEqual(most)
      expect(tookMs).toBeLessThan(longestMs)
      if (row.succeeds?.includes(client.name) === true) {
        expect([error, [value].flat().every((one) => one === '0x1')]).toEqual([undefined, true])
        return
      }
      if (error === undefined) throw new Error(`the call succeeded: ${inspect(value)}`)
      const [text] = row.instead?.[client.name] ?? [rejection.message]
      expect(getMessage(client, error)).toContain(text)
      if (client.name === 'fetch') {
        const { status, code, message, reason } = rejection
        expect(error).toMatchObject({ status, error: { code, message, data: { reason } } })
      }
      if (!client.ours) return
      if (row.batch === true && client.name === '@keyrail/web3') {
        // The calls of its batches fail with error objects, which have only a code and a message.
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
          const setup = await row.open(given)
          atNode = setup.atNode ?? []
          return setup
        },
      }
      const { error, leaks, tookMs } = await run(client, seen, (opened) => opened.send(raw))
      expect(error).toBeInstanceOf(Error)
      // Requests that the service did not forward, for example because the circuit breaker of the node is open, may be sent again.
      expect([atNode.filter((body) => body.includes('eth_sendRawTransaction')).length, leaks]).toEqual([1, []])
      expect(tookMs).toBeLessThan(longestMs)
    },
    90_000,
  )
})
