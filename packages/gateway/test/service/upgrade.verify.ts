import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, expect, test } from 'vitest'
import { skipIfMissing } from '../../../../scripts/externalPrograms.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import { chainIds, post } from '../startGateway.ts'
import { getFreePort } from '../getFreePort.ts'
import { describeKinds, places } from './places.ts'
import { findMissingBuild, openPreviousBuild } from './previousBuild.ts'
import { startServe, writeConfig } from './serviceProcess.ts'
import type { ServiceProcess } from './serviceProcess.ts'
import { createVisitor } from './visitor.ts'

const previous = openPreviousBuild()
afterAll(() => previous?.remove())

const toStop: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const stop of toStop.splice(0).toReversed()) await stop()
})

const body = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
const getStatus = async (address: string): Promise<number> => (await post(address, body)).status

describeKinds(places, 'an upgrade', (kind) => {
  const options = skipIfMissing(findMissingBuild())
  test('the previous build works beside this one on one database, and no call fails', options, async () => {
    const place = await kind.open()
    toStop.push(place.close)
    const node = await startFakeUpstream(chainIds.testnet)
    toStop.push(node.stop)
    const startBuild = async (name: string, program?: string): Promise<ServiceProcess> => {
      const port = await getFreePort()
      const file = writeConfig(
        place.folder,
        {
          publicUrl: `http://127.0.0.1:${port}`,
          listen: { port },
          signUp: 'open',
          networks: { testnet: { chain: 'testland', chainId: chainIds.testnet, upstreams: [{ url: node.url }] } },
          limits: { apiKeys: { perDay: 100_000 } },
          ...(place.storage === undefined ? {} : { storage: place.storage }),
        },
        `${name}.json`,
      )
      const service = await startServe(file, place.environment, program)
      toStop.push(() => service.stop())
      return service
    }

    const old = await startBuild('old', previous?.program)
    const onOld = createVisitor(old.url)
    const password = randomBytes(12).toString('base64url')
    await onOld.get('POST /api/account', { body: { email: 'ann@example.org', password } })
    // By its key, because the previous build names the URL of a key otherwise.
    const createKey = async (service: { readonly url: string }, visitor: typeof onOld, name: string) => {
      const { key, apiKey } = await visitor.get('POST /api/keys', { body: { name, network: 'testnet' } })
      return { key, url: `${service.url}/testnet/${apiKey}` }
    }
    const first = await createKey(old, onOld, 'first')
    const statuses: number[] = []
    const urls = [first.url]
    const inFlight: Promise<number>[] = []
    let isEnded = false
    const load = Promise.all(
      Array.from({ length: 4 }, async (_, caller) => {
        while (!isEnded) statuses.push(await (inFlight[caller] = getStatus(urls[caller % urls.length] ?? '')))
      }),
    )

    toStop.push(() => {
      isEnded = true
      return load
    })

    // Migrates the database while the previous build serves calls.
    const next = await startBuild('next')
    const onNext = createVisitor(next.url)
    await onNext.get('POST /api/session', { body: { email: 'ann@example.org', password } })
    urls.push(first.url.replace(old.url, next.url))

    const second = await createKey(next, onNext, 'second')
    const third = await createKey(old, onOld, 'third')
    await expect.poll(() => getStatus(second.url.replace(next.url, old.url))).toBe(200)
    await expect.poll(() => getStatus(third.url.replace(old.url, next.url))).toBe(200)
    await onOld.get('POST /api/keys/{keyId}/revoke', { params: { keyId: second.key.id } })
    await onNext.get('POST /api/keys/{keyId}/revoke', { params: { keyId: third.key.id } })
    await expect.poll(() => getStatus(second.url)).toBe(401)
    await expect.poll(() => getStatus(third.url)).toBe(401)

    // Callers leave the previous build before it stops, as with a load balancer.
    urls.shift()
    await Promise.all(inFlight)
    await old.stop()
    const before = statuses.length
    await expect.poll(() => statuses.length).toBeGreaterThan(before + 100)
    isEnded = true
    await load
    expect(new Set(statuses)).toEqual(new Set([200]))
    // Both builds have counted their calls, and the polls above.
    await expect.poll(async () => (await onNext.get('GET /api/usage')).day.used).toBeGreaterThanOrEqual(statuses.length)

    // The previous build also starts on the migrated database: to go back, or after a crash during the upgrade.
    const back = await startBuild('back', previous?.program)
    expect(await getStatus(first.url.replace(old.url, back.url))).toBe(200)
  })
})
