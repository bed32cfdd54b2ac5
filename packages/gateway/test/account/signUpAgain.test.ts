import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createService, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import type { Service } from '../../src/index.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage, StorageOptions } from '../../src/storage/openStorage.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import type { FakeUpstream } from '../fakeUpstream.ts'
import { createVisitor } from '../service/visitor.ts'
import type { Visitor } from '../service/visitor.ts'
import { chainIds, post } from '../startGateway.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { openRaw } from '../storage/openRaw.ts'
import { addApiKey, addApp } from '../storage/fill.ts'
import { createFixture, newEmail, expectOk, password } from './accountFixture.ts'
import type { AccountFixture } from './accountFixture.ts'

const day = 86_400_000
const hour = day / 24

describe('over HTTP', () => {
  const perDay = 5
  let folder: string
  let nodes: Record<'testnet' | 'mainnet', FakeUpstream>
  let service: Service
  let url: string
  const clock = { now: Date.UTC(2026, 10, 21, 12) }

  beforeEach(async () => {
    clock.now = Date.UTC(2026, 10, 21, 12)
    folder = mkdtempSync(join(tmpdir(), 'keyrail-again-'))
    nodes = { testnet: await startFakeUpstream(chainIds.testnet), mainnet: await startFakeUpstream(chainIds.mainnet) }
    const limits = { perSecond: null, perDay }
    const { publicUrl: _none, ...config } = parseServiceConfig({
      publicUrl: 'http://127.0.0.1',
      listen: { port: 0 },
      signUp: 'open',
      networks: {
        testnet: { chain: 'testland', chainId: chainIds.testnet, upstreams: [{ url: nodes.testnet.url }] },
        mainnet: { chain: 'testland', chainId: chainIds.mainnet, upstreams: [{ url: nodes.mainnet.url }] },
      },
      limits: { apiKeys: limits, apps: limits, appsPerUser: 2 },
    })
    service = await createService({
      config,
      secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
      storage: { file: join(folder, 'keyrail.db') },
      now: () => clock.now,
    })
    ;({ url } = await service.listen())
  })
  afterEach(async () => {
    await service.close({ graceMs: 0 })
    for (const node of Object.values(nodes)) await node.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const signUp = async (email: string): Promise<Visitor> => {
    const visitor = createVisitor(url)
    await visitor.get('POST /api/account', { body: { email: email, password } })
    return visitor
  }
  const addKey = async (visitor: Visitor): Promise<string> => {
    const { url: address } = await visitor.get('POST /api/keys', { body: { network: 'testnet', name: 'Key' } })
    return address
  }
  const leave = (visitor: Visitor): Promise<unknown> => visitor.get('POST /api/account/delete', { body: { password } })
  const call = async (address: string): Promise<number> =>
    (await post(address, '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}')).status
  const callAll = async (address: string): Promise<number[]> => {
    const statuses: number[] = []
    for (let calls = 0; calls < perDay + 1; calls += 1) statuses.push(await call(address))
    return statuses
  }
  const all = [...Array.from({ length: perDay }, () => 200), 403]

  test('an account that is deleted and created again has the same daily quota', async () => {
    const first = await signUp('ann@example.org')
    expect(await callAll(await addKey(first))).toEqual(all)
    await leave(first)
    const second = await signUp(' ANN@Example.org')
    expect(await call(await addKey(second))).toBe(403)
    expect(await second.get('GET /api/usage')).toMatchObject({ day: { used: perDay, limit: perDay } })
    // Any number of times.
    await leave(second)
    const third = await signUp('ann@example.org')
    const address = await addKey(third)
    expect(await call(address)).toBe(403)
    // Another user, and the next day.
    expect(await call(await addKey(await signUp('bob@example.org')))).toBe(200)
    clock.now += day
    expect(await callAll(address)).toEqual(all)
  })

  test('the rest of the daily quota can be used', async () => {
    const first = await signUp('ann@example.org')
    const before = await addKey(first)
    expect([await call(before), await call(before)]).toEqual([200, 200])
    await leave(first)
    expect(await callAll(await addKey(await signUp('ann@example.org')))).toEqual([200, 200, 200, 403, 403, 403])
  })

  test('a key that is revoked and created again shares the same quota', async () => {
    const ann = await signUp('ann@example.org')
    expect(await callAll(await addKey(ann))).toEqual(all)
    const { items } = await ann.get('GET /api/keys')
    await ann.get('POST /api/keys/{keyId}/revoke', { params: { keyId: items[0]?.id ?? '' } })
    expect(await call(await addKey(ann))).toBe(403)
  })

  test('the apps of a deleted account count until the end of the day', async () => {
    const ann = await signUp('ann@example.org')
    const body = { useCase: 'Wallet' as const, chain: 'testland', services: ['Node API' as const] }
    for (const name of ['One', 'Two']) await ann.get('POST /api/apps', { body: { ...body, name } })
    await leave(ann)
    const again = await signUp('ann@example.org')
    const response = await again.request('POST', '/api/apps', { ...body, name: 'Three' })
    expect([response.status, response.text]).toEqual([409, expect.stringContaining('apps')])
    clock.now += day
    expect((await again.request('POST', '/api/apps', { ...body, name: 'Three' })).status).toBe(201)
  })
})

describe.each(suiteDatabases)('the record of a deleted account on $name', (database) => {
  let options: StorageOptions
  let storage: Storage
  let fixture: AccountFixture
  const secrets = [createServerSecret('a'.repeat(32), { version: 2 }), createServerSecret('b'.repeat(32))]
  beforeAll(async () => {
    options = await database.create()
    storage = await openStorage(options)
  })
  afterAll(async () => {
    await storage.close()
    await database.stop()
  })
  beforeEach(() => {
    fixture = createFixture(storage, { secrets })
    fixture.clock.now += 12 * hour
  })

  const rows = async (): Promise<readonly object[]> => {
    const { db, close } = await openRaw(options)
    const found = await db.query.selectFrom('leftUsers').selectAll().execute()
    await close()
    return found
  }
  const quotaOwner = async (userId: string): Promise<string | undefined> =>
    (await storage.users.find(userId))?.quotaOwner
  const leave = async ({ viewer }: { viewer: Parameters<AccountFixture['accounts']['deleteAccount']>[0]['viewer'] }) =>
    expectOk(await fixture.accounts.deleteAccount({ viewer, password }))
  const signUp = async (email: string, { accounts } = fixture) =>
    expectOk(await accounts.signUp({ email: email, password, ip: `192.0.2.${Math.floor(Math.random() * 255)}` }))

  test('contains a keyed hash instead of the email address, and is deleted after a sign-up or at the end of the day', async () => {
    const email = newEmail()
    const first = await signUp(email)
    await leave(first)
    const [row] = await rows()
    const printed = JSON.stringify(row, (_, value: unknown) => (value instanceof Uint8Array ? [...value] : value))
    expect(printed).not.toContain(email.split('@')[0])
    expect(Object.keys(row ?? {}).sort()).toEqual(['apps', 'emailHash', 'leftAt', 'quotaOwner'])
    const again = await signUp(email.toUpperCase())
    expect(await quotaOwner(again.viewer.user.id)).toBe(first.viewer.user.id)
    expect(await rows()).toEqual([])
    await leave(again)
    expect(await rows()).toHaveLength(1)
    await fixture.accounts.prune()
    expect(await rows()).toHaveLength(1)
    fixture.clock.now += 12 * hour
    await fixture.accounts.prune()
    expect(await rows()).toEqual([])
  })

  test('has no effect on the next day, pruned or not', async () => {
    const email = newEmail()
    const first = await signUp(email)
    await addApp(storage, { userId: first.viewer.user.id })
    await leave(first)
    fixture.clock.now = Math.ceil(fixture.clock.now / day) * day
    const { id } = (await signUp(email)).viewer.user
    expect(await quotaOwner(id)).toBe(id)
  })

  test('is found while the server secret is being rotated', async () => {
    const old = createFixture(storage, { secrets: secrets.slice(1) })
    old.clock.now = fixture.clock.now
    const email = newEmail()
    const first = await signUp(email, old)
    expectOk(await old.accounts.deleteAccount({ viewer: first.viewer, password }))
    expect(await quotaOwner((await signUp(email)).viewer.user.id)).toBe(first.viewer.user.id)
  })

  test('has no effect on another email address', async () => {
    const email = newEmail()
    await leave(await signUp(email))
    const { id } = (await signUp(`x${email}`)).viewer.user
    expect(await quotaOwner(id)).toBe(id)
  })

  test('the data plane uses the quota of the earlier account', async () => {
    const email = newEmail()
    const first = await signUp(email)
    await leave(first)
    const { id } = (await signUp(email)).viewer.user
    const { hash } = await addApiKey(storage, { userId: id })
    expect((await storage.findAccess(hash))?.user).toMatchObject({ id, quotaOwner: first.viewer.user.id })
  })
})
