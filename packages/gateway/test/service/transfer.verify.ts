import { expect, onTestFinished, test } from 'vitest'
import type { ActingAccountView, AppView, MetricsView } from '../../src/index.ts'
import { post } from '../startGateway.ts'
import { clusters, describeKinds, places } from './places.ts'
import { startTestService } from './testService.ts'
import { createVisitor } from './visitor.ts'

const read = '{"jsonrpc":"2.0","id":7,"method":"eth_blockNumber","params":[]}'

describeKinds(places, 'an app that moves between accounts', (kind) => {
  test('while calls are in flight: none is rejected, and each counts once', async () => {
    const service = await startTestService(kind)
    onTestFinished(async () => {
      await service.close()
    })
    const isCluster = clusters.some(({ name }) => name === kind.name)
    const other = isCluster ? await service.startAnother() : undefined
    const owner = createVisitor(service.url)
    const { account } = await owner.get('POST /api/account', {
      body: { email: 'ann@example.org', password: 'plum tin roof gate' },
    })
    const send = async <Body>(method: string, path: string, accountId: string, body?: unknown): Promise<Body> => {
      const { status, text, json } = await owner.request(method, path, body, { 'x-keyrail-account': accountId })
      expect([status < 300, status < 300 ? '' : text]).toEqual([true, ''])
      return json as Body
    }
    const team = await send<ActingAccountView>('POST', '/api/accounts', account.id, { name: 'Acme' })
    const { app, urls } = await send<{ app: AppView; urls: Record<string, string> }>('POST', '/api/apps', account.id, {
      name: 'Shop',
      useCase: 'Defi',
      chain: 'testland',
      services: ['Node API'],
    })
    const url = urls['testnet'] ?? ''
    const targets = [url, ...(other === undefined ? [] : [url.replace(service.url, other.url)])]

    let isOver = false
    let succeeded = 0
    const failed: unknown[] = []
    const callers = Array.from({ length: 8 }, async (_, index) => {
      const target = targets[index % targets.length] ?? url
      while (!isOver) {
        const { status, text } = await post(target, read)
        if (status === 200) succeeded += 1
        else failed.push([status, text])
      }
    })
    const owners = [account.id, team.id] as const
    for (let moves = 0; moves < 15; moves += 1) {
      const accountId = owners[(moves + 1) % 2]
      // Calls come between transfers too.
      const before = succeeded
      await expect.poll(() => succeeded > before + 20 || failed.length > 0, { timeout: 10_000, interval: 5 }).toBe(true)
      await send('POST', `/api/apps/${app.id}/transfer`, owners[moves % 2] ?? '', { accountId })
    }
    isOver = true
    await Promise.all(callers)
    expect(failed).toEqual([])

    const count = async (path: string, accountId: string): Promise<number> =>
      (await send<MetricsView>('GET', `${path}?range=hour`, accountId)).total
    // The history is that of the app, so it is counted for the account that has it now.
    await expect
      .poll(() => count(`/api/apps/${app.id}/metrics`, team.id), { timeout: 20_000, interval: 250 })
      .toBe(succeeded)
    expect(await count('/api/metrics', team.id)).toBe(succeeded)
    expect(await count('/api/metrics', account.id)).toBe(0)
    const usage = await send<{ day: { used: number } }>('GET', `/api/apps/${app.id}/usage`, team.id)
    expect(usage.day.used).toBe(succeeded)
  })
})
