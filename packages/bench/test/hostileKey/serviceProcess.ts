import { createApiKey, getApiKeyUrl } from '@keyrail/gateway'
import { createMemoryKeyStore } from '@keyrail/gateway/test/createMemoryKeyStore.ts'
import { createTestGateway } from '@keyrail/gateway/test/createTestGateway.ts'
import { createFakeLimits } from '@keyrail/gateway/test/tenants/fakes.ts'

// The service, as a process of its own. It sends the URLs of its keys to its parent: the first one is that of the attacker.
// After each message it reports what it holds.

/** How many requests of the attacker are granted in a second. */
const hostilePerSecond = 200

const [upstreamUrl = '', ordinary = ''] = process.argv.slice(2)
const keys = createMemoryKeyStore()
const limits = { burst: 1_000, perDay: null, perMonth: null }
const added = Array.from({ length: 1 + Number(ordinary) }, (_, index) => {
  const key = createApiKey('testnet')
  const perSecond = index === 0 ? hostilePerSecond : 1_000
  keys.add(key, {
    id: `key-${index}`,
    kind: 'apiKey',
    networks: ['testnet'],
    status: 'active',
    limits: { ...limits, perSecond },
  })
  return key
})
const gateway = createTestGateway({
  networks: { testnet: { chainId: 31_337, upstreams: [{ url: upstreamUrl }], checkLogs: false } },
  keys,
  usageLimits: createFakeLimits({ now: Date.now }),
  logRequests: false,
})
const { url } = await gateway.listen()
process.send?.(added.map((key) => getApiKeyUrl(url, 'testnet', key)))
process.on('message', () => {
  const { subscriptions } = gateway.webSockets()
  const counts = Object.entries(subscriptions.get('testnet') ?? {})
  const held = Object.entries(gateway.load().bufferedByKind).map(([kind, bytes]) => [
    kind,
    `${Math.round(bytes / 1024)} kB`,
  ])
  process.send?.([...counts, ...held].map(([name, value]) => `${name} ${value}`).join(', '))
})
