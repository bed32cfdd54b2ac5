import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '../alerts/startReceiver.ts'
import type { Receiver } from '../alerts/startReceiver.ts'
import { verifyWebhook } from '../alerts/verifyWebhook.ts'
import { startSmtpServer } from '../email/startSmtpServer.ts'
import type { SmtpServer } from '../email/startSmtpServer.ts'
import { post } from '../startGateway.ts'
import { describeKinds, places } from './places.ts'
import { runKeyrail } from './serviceProcess.ts'
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

  test(
    'a used-up quota and a network without a node cause an email and a request each',
    { timeout: 180_000 },
    async () => {
      const ann = createVisitor(service.url)
      await ann.get('POST /api/account/sign-up-link', { body: { email } })
      const link = /#(kre_\w+)/.exec((await smtp.next()).source)?.[1] ?? ''
      const password = randomBytes(12).toString('base64url')
      await ann.get('POST /api/account', { body: { email, password, link } })
      const words = ['users', 'role', email, 'operator', '--config', service.configFile]
      await runKeyrail(words, service.place.environment)
      const { secret } = await ann.get('POST /api/alerts/webhooks', {
        body: { url: `${receiver.url}/keyrail`, aboutService: true },
      })
      const { app, urls } = await ann.get('POST /api/apps', {
        body: { name: 'Shop', useCase: 'Wallet', chain: 'testland', services: ['Node API'] },
      })
      await ann.get('PATCH /api/apps/{appId}', {
        params: { appId: app.id },
        body: { version: app.version, limits: { perDay: 5 } },
      })
      for (let count = 0; count < 6; count += 1) await post(urls['testnet'] ?? '', read)
      await service.nodes.mainnet.stop()

      // The service looks every 30 seconds, and a problem must last for a minute.
      const emails = [await smtp.next(), await smtp.next()]
      expect(emails.map(({ to }) => to)).toEqual([[email], [email]])
      const titles = ['Daily quota used up: Shop', 'mainnet has no healthy node']
      const found = emails.map(({ source }) => titles.find((title) => source.includes(title)))
      expect(new Set(found)).toEqual(new Set(titles))
      await expect.poll(() => receiver.requests.length, { timeout: 30_000 }).toBe(2)
      const events = receiver.requests.map((request) => verifyWebhook(request, secret))
      expect(events).toContainEqual(
        expect.objectContaining({
          type: 'quota.threshold',
          data: expect.objectContaining({
            level: 100,
            used: 5,
            limit: 5,
            account: { type: 'app', id: app.id, name: 'Shop' },
          }) as unknown,
        }),
      )
      expect(events).toContainEqual(
        expect.objectContaining({
          type: 'problem.started',
          data: expect.objectContaining({ kind: 'network', subject: 'mainnet', resolvedAt: null }) as unknown,
        }),
      )
      const { deliveries } = await ann.get('GET /api/alerts')
      expect(deliveries.map(({ state }) => state)).toEqual(deliveries.map(() => 'delivered'))
      expect(deliveries.map(({ title }) => title).toSorted()).toEqual(titles.flatMap((title) => [title, title]))
      const { problems } = await ann.get('GET /api/admin/overview')
      expect(problems).toContainEqual({ kind: 'network', subject: 'mainnet', share: null, expiresAt: null })
    },
  )
})
