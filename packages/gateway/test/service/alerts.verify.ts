import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '../alerts/startReceiver.ts'
import type { Receiver } from '../alerts/startReceiver.ts'
import { verifyWebhook } from '../alerts/verifyWebhook.ts'
import { startSmtpServer } from '../email/startSmtpServer.ts'
import type { SmtpServer } from '../email/startSmtpServer.ts'
import { post } from '../startGateway.ts'
import { describeKinds, places } from './places.ts'
import { startTestService } from './testService.ts'
import type { TestService } from './testService.ts'
import { createVisitor } from './visitor.ts'

const email = 'ann@example.org'
const read = '{"jsonrpc":"2.0","id":7,"method":"eth_blockNumber","params":[]}'

describeKinds(places, 'alerts of keyrail serve', (kind) => {
  let smtp: SmtpServer
  let receiver: Receiver
  let service: TestService
  beforeAll(async () => {
    ;[smtp, receiver] = await Promise.all([startSmtpServer(), startReceiver()])
    service = await startTestService(kind, {
      email: { smtp: { host: '127.0.0.1', port: smtp.port, secure: 'none' }, from: 'keyrail@example.org' },
      webhooks: { allowPrivateAddresses: true },
    })
  })
  afterAll(async () => {
    const { exitCode, stderr } = await service.close()
    await Promise.all([smtp.close(), receiver.close()])
    expect([exitCode, stderr]).toEqual([0, ''])
  })

  test('a used-up quota of an app causes one email and one request', { timeout: 120_000 }, async () => {
    const ann = createVisitor(service.url)
    await ann.get('POST /api/account/sign-up-link', { body: { email } })
    const link = /#(kre_\w+)/.exec((await smtp.next()).source)?.[1] ?? ''
    const password = randomBytes(12).toString('base64url')
    await ann.get('POST /api/account', { body: { email, password, link } })
    const { app, urls } = await ann.get('POST /api/apps', {
      body: { name: 'Shop', useCase: 'Wallet', chain: 'testland', services: ['Node API'] },
    })
    await ann.get('PATCH /api/apps/{appId}', {
      params: { appId: app.id },
      body: { version: app.version, limits: { perDay: 5 } },
    })
    const { secret } = await ann.get('POST /api/alerts/webhooks', { body: { url: `${receiver.url}/keyrail` } })
    for (let count = 0; count < 6; count += 1) await post(urls['testnet'] ?? '', read)

    // The service looks every 30 seconds.
    const { to, source } = await smtp.next()
    expect(to).toEqual([email])
    expect(source).toContain('Daily quota used up: Shop')
    await expect.poll(() => receiver.requests.length).toBe(1)
    expect(verifyWebhook(receiver.requests[0], secret)).toMatchObject({
      type: 'quota.threshold',
      data: { level: 100, used: 5, limit: 5, account: { type: 'app', id: app.id, name: 'Shop' } },
    })
    const { deliveries } = await ann.get('GET /api/alerts')
    expect(deliveries.map(({ state, title }) => [state, title])).toEqual([
      ['delivered', 'Daily quota used up: Shop'],
      ['delivered', 'Daily quota used up: Shop'],
    ])
  })
})
