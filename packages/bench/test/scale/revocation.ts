import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { post } from '@keyrail/gateway/test/startGateway.ts'
import type { PlaceKind } from '@keyrail/gateway/test/service/places.ts'
import { startTestService } from '@keyrail/gateway/test/service/testService.ts'
import { startRedis } from '@keyrail/gateway/test/usage/startRedis.ts'
import { createVisitor } from '@keyrail/gateway/test/visitor.ts'
import type { Outcome, Scenario } from './scenario.ts'
import type { Servers } from './openServers.ts'

// Three processes of `keyrail serve`: how long a change takes until each of them acts on it.

const body = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
/** A change that is seen later than this counts as not seen, in milliseconds. */
const timeoutMs = 10_000

/** @returns The reason of the error; `undefined`: the call succeeded. */
const call = async (url: string): Promise<string | undefined> => {
  const { status, text } = await post(url, body)
  if (status === 200) return undefined
  const { error } = JSON.parse(text) as { error?: { data?: { reason?: string } } }
  return error?.data?.reason ?? String(status)
}

/**
 * Calls each URL until all respond with `reason`. Call it once the control API has confirmed the change.
 * @returns How long the last one took, in milliseconds.
 */
const measure = async (urls: readonly string[], reason: string | undefined): Promise<number> => {
  const startedAt = performance.now()
  const times = await Promise.all(
    urls.map(async (url) => {
      for (;;) {
        const found = await call(url)
        const took = performance.now() - startedAt
        if (found === reason) return took
        if (took > timeoutMs)
          throw new Error(`after ${timeoutMs} ms, an instance responds with ${found}, not ${reason}`)
        await wait(2)
      }
    }),
  )
  return Math.max(...times)
}

/** Revokes keys and changes limits, `rounds` times each. */
export const runRevocation = async (servers: Servers, rounds: number): Promise<Outcome> => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-scale-'))
  const operatorToken = randomBytes(32).toString('base64url')
  const place: PlaceKind = {
    name: 'PostgreSQL and Redis',
    open: async () => {
      const [databaseUrl, redis] = await Promise.all([servers.createDatabase(), startRedis()])
      return {
        folder,
        environment: {
          KEYRAIL_SECRET: randomBytes(48).toString('base64url'),
          KEYRAIL_OPERATOR_TOKEN: operatorToken,
          DATABASE_URL: databaseUrl,
          REDIS_URL: redis.url,
        },
        written: [],
        close: redis.stop,
      }
    },
  }
  const service = await startTestService(place)
  const stop = servers.onStop(service.close)
  try {
    const others = [await service.startAnother(), await service.startAnother()]
    const origins = [service.url, ...others.map(({ url }) => url)]
    const user = createVisitor(service.url)
    const { account } = await user.get('POST /api/account', {
      body: { email: 'ann@example.org', password: randomBytes(12).toString('base64url') },
    })
    const createKey = async (): Promise<{ id: string; urls: string[] }> => {
      const { key, url: address } = await user.get('POST /api/keys', { body: { name: 'one', network: 'testnet' } })
      const urls = origins.map((origin) => address.replace(service.url, origin))
      await measure(urls, undefined)
      return { id: key.id, urls }
    }
    const setPerDay = async (perDay: number): Promise<void> => {
      const { status, text } = await user.request(
        'PUT',
        `/api/admin/users/${account.id}/limits`,
        { limits: { perDay } },
        { authorization: `Bearer ${operatorToken}` },
      )
      if (status !== 200) throw new Error(`the limits were not set: ${status} ${text}`)
    }
    const times: Record<'revoked' | 'lowered' | 'raised', number[]> = { revoked: [], lowered: [], raised: [] }
    for (let round = 0; round < rounds; round += 1) {
      const { id, urls } = await createKey()
      await setPerDay(1)
      times.lowered.push(await measure(urls, 'quota_exceeded'))
      await setPerDay(1_000_000)
      times.raised.push(await measure(urls, undefined))
      await user.get('POST /api/keys/{keyId}/revoke', { params: { keyId: id } })
      times.revoked.push(await measure(urls, 'key_revoked'))
    }
    const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? NaN
    return {
      figures: {
        rounds,
        'median ms until a revoked key is rejected': median(times.revoked),
        'median ms until a lowered limit applies': median(times.lowered),
        'median ms until a raised limit applies': median(times.raised),
      },
      bars: [
        { name: 'slowest ms until a revoked key is rejected', is: Math.max(...times.revoked), atMost: 1_000 },
        { name: 'slowest ms until a lowered limit applies', is: Math.max(...times.lowered), atMost: 1_000 },
        { name: 'slowest ms until a raised limit applies', is: Math.max(...times.raised), atMost: 1_000 },
      ],
    }
  } finally {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The scenario of changes. */
export const revocationScenario: Scenario = {
  name: 'revocation',
  // The control API limits how often a user writes.
  title: 'a key is revoked and a limit changed at one of three instances, 50 times each',
  run: (servers) => runRevocation(servers, 50),
}
