import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSmtpServer } from '../email/startSmtpServer.ts'
import type { SmtpServer } from '../email/startSmtpServer.ts'
import { sqlite } from './places.ts'
import { startTestService } from './testService.ts'
import type { TestService } from './testService.ts'
import { createVisitor } from './visitor.ts'

const password = randomBytes(12).toString('base64url')
const email = 'ann.unusual@example.org'

let smtp: SmtpServer
let service: TestService
beforeAll(async () => {
  smtp = await startSmtpServer()
  service = await startTestService(sqlite, {
    email: { smtp: { host: '127.0.0.1', port: smtp.port, secure: 'none' }, from: 'Keyrail <keyrail@example.org>' },
  })
})
afterAll(async () => {
  const { exitCode, stderr } = await service.close()
  await smtp.close()
  expect([exitCode, stderr]).toEqual([0, ''])
})

test('a user signs up by email; the log has a failure without the address, and no link', async () => {
  const ann = createVisitor(service.url)
  expect((await ann.get('GET /api/deployment')).email).toBe(true)
  smtp.statuses.push(550)
  await ann.get('POST /api/account/sign-up-link', { body: { email } })
  expect(await service.process.logged('a failed email', ({ event }) => event === 'email')).toMatchObject({
    level: 'warn',
    kind: 'signUp',
    state: 'failed',
    reason: 'EENVELOPE SMTP 550',
  })
  await ann.get('POST /api/account/sign-up-link', { body: { email } })
  const { source } = await smtp.next()
  const link = /#(kre_\w+)/.exec(source)?.[1] ?? ''
  expect(source).toContain(`${service.url}/sign-up#${link}`)
  const { account } = await ann.get('POST /api/account', { body: { email, password, link } })
  expect(account.emailVerified).toBe(true)
  const { stdout } = service.process.printed()
  expect(stdout).not.toContain('unusual')
  expect(stdout).not.toContain(link)
})

test('a reload turns emails off', async () => {
  const { email: _, ...config } = service.config
  service.change({ ...config, email: undefined as never })
  await service.process.logged('the reload', ({ event, state }) => event === 'config' && state === 'applied')
  expect((await createVisitor(service.url).get('GET /api/deployment')).email).toBe(false)
})
