import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createService, parseServiceConfig, readServerSecrets } from '../../src/index.ts'
import { startFakeUpstream } from '../fakeUpstream.ts'
import { chainIds, post } from '../startGateway.ts'
import { createAppBody } from '../control/accountFixture.ts'
import { getFreePort } from '../getFreePort.ts'
import { createVisitor } from './visitor.ts'

const day = 86_400_000
const password = 'plum tin roof gate'

afterEach(() => {
  vi.useRealTimers()
})

/** Starts a service with its default clocks. @returns Its URL. */
const start = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-clock-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const node = await startFakeUpstream(chainIds.testnet)
  onTestFinished(node.stop)
  const port = await getFreePort()
  const service = await createService({
    config: parseServiceConfig({
      publicUrl: `http://127.0.0.1:${port}`,
      listen: { port },
      signUp: 'open',
      networks: {
        testnet: { chain: 'ethereum', chainId: chainIds.testnet, upstreams: [{ url: node.url }] },
        mainnet: { chainId: chainIds.mainnet, upstreams: [{ url: 'http://127.0.0.1:9' }] },
      },
    }),
    secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
    storage: { file: join(folder, 'keyrail.db') },
  })
  onTestFinished(() => service.close({ graceMs: 0 }))
  return (await service.listen()).url
}

// 15.32
test.each([
  ['forward a day and back', [day, 0]],
  ['back a day and forward', [-day, 0]],
  ['forward a year, back, and back a year', [365 * day, 0, -365 * day, 0]],
])('a service whose clock is set %s still serves its users', async (_, jumps) => {
  // Before the service starts, because defaults such as `now = Date.now` capture the current function.
  const startedAt = Date.now()
  vi.useFakeTimers({ toFake: ['Date'] })
  const url = await start()
  const visitor = createVisitor(url)
  const account = { email: 'ann@example.org', password }
  expect((await visitor.request('POST', '/api/account', account)).status).toBe(201)
  const { url: address } = (await visitor.request('POST', '/api/keys', { name: 'ci', network: 'testnet' })).json as {
    url: string
  }
  for (const [round, jump] of [0, ...jumps].entries()) {
    vi.setSystemTime(startedAt + jump)
    const results = {
      wrongLogIn: (await visitor.request('POST', '/api/session', { ...account, email: `carl${round}@example.org` }))
        .status,
      logIn: (await visitor.request('POST', '/api/session', account)).status,
      usage: (await visitor.request('GET', '/api/usage')).status,
      usageAgain: (await visitor.request('GET', '/api/usage')).status,
      change: (await visitor.request('POST', '/api/apps', createAppBody())).status,
      signUp: (
        await createVisitor(url).request('POST', '/api/account', { ...account, email: `bob${round}@example.org` })
      ).status,
      call: (await post(address, '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}')).status,
    }
    expect({ jump, ...results }).toEqual({
      jump,
      wrongLogIn: 401,
      logIn: 200,
      usage: 200,
      usageAgain: 200,
      change: 201,
      signUp: 201,
      call: 200,
    })
  }
})
