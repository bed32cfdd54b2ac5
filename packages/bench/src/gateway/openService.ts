import { createSign, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey, createService, parseServiceConfig, readServerSecrets, tuneHeap } from '@keyrail/gateway'
import type { Target } from './target.ts'

const password = 'a password of the bench'

/** Somebody who is logged in. */
interface Developer {
  readonly id: string
  readonly ask: <Answer>(route: string, body?: object) => Promise<Answer>
}

/** Signs somebody up over HTTP, as a browser would. */
const signUp = async (url: string, email: string): Promise<Developer> => {
  const headers = { 'content-type': 'application/json', origin: url }
  const post = (path: string, body: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}${path}`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
  const answer = await post('/api/account', { email, password })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  const { account } = (await answer.json()) as { account: { id: string } }
  return {
    id: account.id,
    ask: async (path, body = {}) => {
      const given = await post(path, body, { cookie })
      if (!given.ok) throw new Error(`${path} was answered with ${given.status}: ${await given.text()}`)
      return given.json() as never
    },
  }
}

const badToken = (kid: string): string => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'ES256', kid })}.${part({ exp: Math.floor(Date.now() / 1_000) + 3_600 })}`
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const signature = createSign('sha256').update(signed).sign({ key: stranger, dsaEncoding: 'ieee-p1363' }, 'base64url')
  return `${signed}.${signature}`
}

/**
 * Opens the whole service in front of a node, as `keyrail serve` opens it, with all that it does to a call on: key, rate, quota, metering. Its limits
 * are above what a bench can ask, but for those who are there to be rejected.
 * @param stores - PostgreSQL and Redis. @default SQLite, without Redis
 */
export async function openService(
  upstream: string,
  stores?: { readonly databaseUrl: string; readonly redisUrl: string },
): Promise<Target> {
  tuneHeap()
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const network = { chainId: 1, upstreams: [{ url: upstream }] }
  const limits = { perSecond: 1_000_000, burst: 100_000, perDay: 1_000_000_000, perMonth: 1_000_000_000 }
  // Its URL is known when it listens.
  const { publicUrl: _, ...config } = parseServiceConfig({
    publicUrl: 'http://127.0.0.1',
    signUp: 'open',
    networks: { testnet: network, mainnet: network },
    limits: { apiKeys: limits, apps: limits },
    logRequests: false,
  })
  const service = await createService({
    config,
    secrets: readServerSecrets({ KEYRAIL_SECRET: 'a-secret-of-the-bench-that-seals-nothing-of-worth' }),
    storage: stores === undefined ? { file: join(folder, 'keyrail.db') } : { databaseUrl: stores.databaseUrl },
    redisUrl: stores?.redisUrl,
  })
  const { url } = await service.listen({ host: '127.0.0.1', port: 0 })

  const keyOf = async (developer: Developer): Promise<string> => {
    const { apiKey } = await developer.ask<{ apiKey: string }>('/api/keys', { name: 'bench', network: 'testnet' })
    return `/testnet/${apiKey}`
  }
  const good = await signUp(url, 'good@keyrail.test')
  const limited = await signUp(url, 'limited@keyrail.test')
  const overQuota = await signUp(url, 'over@keyrail.test')
  await service.storage.users.setLimits(limited.id, { perSecond: 1, burst: 1 })
  await service.storage.users.setLimits(overQuota.id, { perDay: 1 })
  const { app, apiKey } = await good.ask<{ app: { id: string }; apiKey: string }>('/api/apps', {
    name: 'bench',
    useCase: 'Other',
    chain: 'ethereum',
    services: ['Node API'],
  })
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = publicKey.export({ type: 'spki', format: 'pem' })
  const { kid } = await good.ask<{ kid: string }>(`/api/apps/${app.id}/jwt-keys`, { pem })
  return {
    url,
    paths: {
      good: [await keyOf(good)],
      unknown: [`/testnet/${createApiKey('testnet')}`],
      limited: [await keyOf(limited)],
      overQuota: [await keyOf(overQuota)],
      badJwt: [`/testnet/v2/${apiKey}`],
    },
    headers: { badJwt: { authorization: `Bearer ${badToken(kid)}` } },
  }
}
