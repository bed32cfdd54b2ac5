import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sqlite } from './places.ts'
import { startTestService } from './testService.ts'
import type { TestService } from './testService.ts'
import { createVisitor } from './visitor.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService(sqlite)
})
afterAll(async () => {
  const { exitCode, stderr } = await service.close()
  expect([exitCode, stderr]).toEqual([0, ''])
})

test('a call marks the entries that allow it as used, and no others', async () => {
  const ann = createVisitor(service.url)
  await ann.get('POST /api/account', { body: { email: 'ann@example.org', password: 'plum tin roof gate' } })
  const { app, urls } = await ann.get('POST /api/apps', {
    body: { name: 'app', useCase: 'Wallet', chain: 'testland', services: ['Node API'] },
  })
  const params = { appId: app.id }
  for (const [type, value] of [
    ['origin', 'https://app.example.org'],
    ['origin', 'https://old.example.org'],
    ['method', 'eth_*'],
    ['method', 'net_version'],
  ] as const)
    await ann.get('POST /api/apps/{appId}/allow-list', { params, body: { type, value } })
  const call = (origin: string) =>
    fetch(urls['testnet'] ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}',
    })
  expect((await call('https://app.example.org')).status).toBe(200)
  expect((await call('https://other.example.org')).status).toBe(403)
  const readUsed = async () =>
    (await ann.get('GET /api/apps/{appId}/allow-list', { params })).items.flatMap(({ value, lastUsedAt }) =>
      lastUsedAt === null ? [] : [value],
    )
  await vi.waitFor(async () => expect(await readUsed()).toEqual(['https://app.example.org', 'eth_*']), {
    timeout: 30_000,
    interval: 200,
  })
})
