import { createSign, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey, createService, parseServiceConfig, readServerSecrets, tuneHeap } from '@keyrail/gateway'
import { createKey, signUp } from './developer.ts'
import type { Target } from './target.ts'

const badToken = (kid: string): string => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'ES256', kid })}.${part({ exp: Math.floor(Date.now() / 1_000) + 3_600 })}`
  const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const signature = createSign('sha256').update(signed).sign({ key: otherKey, dsaEncoding: 'ieee-p1363' }, 'base64url')
  return `${signed}.${signature}`
}

/**
 * Opens the service in front of a node as `keyrail serve` does, with everything that applies to a call: keys, rates, quotas and metering. The limits
 * are above what a bench can send, except for the users whose calls are to be rejected.
 * @param options.databaseUrl - PostgreSQL. @default SQLite
 * @param options.redisUrl - @default without Redis
 * @param options.collector - The URL to which it sends the spans of every hundredth request. @default no tracing
 */
export async function openService(
  upstream: string,
  {
    databaseUrl,
    redisUrl,
    collector,
  }: { readonly databaseUrl?: string; readonly redisUrl?: string; readonly collector?: string } = {},
): Promise<Target> {
  tuneHeap()
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const network = { chainId: 1, upstreams: [{ url: upstream }] }
  const limits = { perSecond: 1_000_000, burst: 100_000, perDay: 1_000_000_000, perMonth: 1_000_000_000 }
  // The URL is only known once it listens.
  const { publicUrl: _, ...config } = parseServiceConfig({
    publicUrl: 'http://127.0.0.1',
    signUp: 'open',
    networks: { testnet: network, mainnet: network },
    limits: { apiKeys: limits, apps: limits },
    logRequests: false,
    ...(collector === undefined ? {} : { tracing: { endpoint: collector, sampleRatio: 0.01 } }),
  })
  const service = await createService({
    config,
    secrets: readServerSecrets({ KEYRAIL_SECRET: 'a-secret-of-the-bench-that-seals-nothing-of-worth' }),
    storage: databaseUrl === undefined ? { file: join(folder, 'keyrail.db') } : { databaseUrl },
    redisUrl,
  })
  const { url } = await service.listen({ host: '127.0.0.1', port: 0 })

  const developer = await signUp(url, 'developer@keyrail.test')
  const limited = await signUp(url, 'limited@keyrail.test')
  const overQuota = await signUp(url, 'over@keyrail.test')
  await service.storage.users.setLimits(limited.id, { perSecond: 1, burst: 1 })
  await service.storage.users.setLimits(overQuota.id, { perDay: 1 })
  const { app, apiKey } = await developer.post<{ app: { id: string }; apiKey: string }>('/api/apps', {
    name: 'bench',
    useCase: 'Other',
    chain: 'ethereum',
    services: ['Node API'],
  })
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = publicKey.export({ type: 'spki', format: 'pem' })
  const { kid } = await developer.post<{ kid: string }>(`/api/apps/${app.id}/jwt-keys`, { pem })
  return {
    url,
    paths: {
      accepted: [await createKey(developer)],
      unknown: [`/testnet/${createApiKey('testnet')}`],
      limited: [await createKey(limited)],
      overQuota: [await createKey(overQuota)],
      badJwt: [`/testnet/v2/${apiKey}`],
    },
    headers: { badJwt: { authorization: `Bearer ${badToken(kid)}` } },
  }
}
