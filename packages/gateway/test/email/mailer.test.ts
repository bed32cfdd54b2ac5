import { describe, expect, onTestFinished, test } from 'vitest'
import { createMailer } from '../../src/email/createMailer.ts'
import { formatEmail } from '../../src/email/formatEmail.ts'
import type { Email, EmailConfig, EmailEvent } from '../../src/email/mailer.ts'
import { startSmtpServer } from './startSmtpServer.ts'
import type { SmtpServer } from './startSmtpServer.ts'

const start = async ({
  server,
  smtp = {},
  ...options
}: { server?: SmtpServer; smtp?: Partial<EmailConfig['smtp']>; retryMs?: number[]; maxQueued?: number } = {}) => {
  const to = server ?? (await startSmtpServer())
  const events: EmailEvent[] = []
  const mailer = createMailer({
    config: () => ({
      smtp: { host: '127.0.0.1', port: to.port, secure: 'none', ...smtp },
      from: 'Keyrail <keyrail@example.org>',
    }),
    onEvent: (event) => events.push(event),
    ...options,
  })
  onTestFinished(to.close)
  onTestFinished(mailer.close)
  return { mailer, server: to, events }
}

const compose = (to = 'ann@example.org', subject = 'Hello'): Email =>
  formatEmail({
    to,
    subject,
    paragraphs: ['A <first> paragraph — of text.'],
    action: { title: 'Open', url: 'https://rpc.example.org/sign-up#kre_1&email=ann%40example.org' },
    footer: 'A footer.',
  })

/** Waits until there are this many events. */
const waitForEvents = async (events: readonly EmailEvent[], count: number): Promise<void> => {
  while (events.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('the mailer', () => {
  test('sends plain text and HTML, from the configured address, to one recipient', async () => {
    const { mailer, server, events } = await start()
    mailer.enqueue('signUp', async () => compose())
    const { from, to, source } = await server.next()
    expect([from, to]).toEqual(['keyrail@example.org', ['ann@example.org']])
    expect(source).toMatch(/^From: Keyrail <keyrail@example\.org>\r$/m)
    expect(source).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(source).toContain('A <first> paragraph — of text.')
    expect(source).toContain('Open:\r\nhttps://rpc.example.org/sign-up#kre_1&email=ann%40example.org')
    expect(source).toContain('<p>A &lt;first&gt; paragraph — of text.</p>')
    expect(source).toContain('href="https://rpc.example.org/sign-up#kre_1&amp;email=ann%40example.org"')
    expect(events).toEqual([])
  })

  test.each(['eve,ann@example.org', 'ann@example.org,', 'eve@evil.example>,<ann@example.org', 'a;b@example.org'])(
    'never sends to a second address: %s',
    async (address) => {
      const { mailer, server } = await start({ retryMs: [] })
      mailer.enqueue('signUp', async () => compose(address))
      mailer.enqueue('signUp', async () => compose('last@example.org', 'A\r\nBcc: eve@evil.example'))
      await mailer.close()
      const recipients = server.received.map(({ to }) => to)
      expect(recipients.every(({ length }) => length === 1)).toBe(true)
      for (const [to] of recipients) expect([address, 'last@example.org']).toContain(to?.replaceAll('"', ''))
      expect(server.received.some(({ source }) => /^Bcc:/im.test(source))).toBe(false)
    },
  )

  test('logs in as the configured user', async () => {
    const server = await startSmtpServer({ authOptional: false, allowInsecureAuth: true })
    const { mailer, events } = await start({ server, smtp: { user: 'keyrail', password: 'right password' } })
    mailer.enqueue('signUp', async () => compose())
    expect(await server.next()).toMatchObject({ user: 'keyrail', to: ['ann@example.org'] })
    const other = await start({ server, smtp: { user: 'keyrail', password: 'wrong' }, retryMs: [1] })
    other.mailer.enqueue('signUp', async () => compose())
    await waitForEvents(other.events, 2)
    expect(other.events.map(({ state, reason }) => `${state} ${reason}`)).toEqual([
      'retrying EAUTH SMTP 535',
      'failed EAUTH SMTP 535',
    ])
    expect(events).toEqual([])
  })

  test('sends nothing to a server whose certificate it cannot verify', async () => {
    const server = await startSmtpServer({ disabledCommands: [] })
    const { mailer, events } = await start({ server, smtp: { secure: 'starttls' }, retryMs: [] })
    mailer.enqueue('signUp', async () => compose())
    await waitForEvents(events, 1)
    expect(events).toMatchObject([{ state: 'failed', kind: 'signUp' }])
    expect(server.received).toEqual([])
  })

  test('sends nothing to a server without TLS, unless the config allows it', async () => {
    const { mailer, server, events } = await start({ smtp: { secure: 'starttls' }, retryMs: [] })
    mailer.enqueue('signUp', async () => compose())
    await waitForEvents(events, 1)
    expect(events).toEqual([{ event: 'email', kind: 'signUp', state: 'failed', reason: 'ETLS SMTP 500' }])
    expect(server.received).toEqual([])
  })

  test('retries a temporary failure, composes once, and logs no address', async () => {
    const { mailer, server, events } = await start({ retryMs: [10, 10] })
    server.statuses.push(451, 421)
    let composed = 0
    mailer.enqueue('resetPassword', async () => {
      composed += 1
      return compose()
    })
    expect((await server.next()).to).toEqual(['ann@example.org'])
    expect(composed).toBe(1)
    expect(events).toEqual([
      { event: 'email', kind: 'resetPassword', state: 'retrying', reason: 'EENVELOPE SMTP 451' },
      { event: 'email', kind: 'resetPassword', state: 'retrying', reason: 'ECONNECTION SMTP 421' },
    ])
  })

  test('gives up after the last retry, and at once if the server rejects the recipient', async () => {
    const { mailer, server, events } = await start({ retryMs: [1] })
    server.statuses.push(451, 451)
    mailer.enqueue('invite', async () => compose())
    await waitForEvents(events, 2)
    expect(events.map(({ state }) => state)).toEqual(['retrying', 'failed'])
    server.statuses.push(550)
    mailer.enqueue('invite', async () => compose())
    await waitForEvents(events, 3)
    expect(events[2]).toEqual({ event: 'email', kind: 'invite', state: 'failed', reason: 'EENVELOPE SMTP 550' })
    expect(server.received).toEqual([])
  })

  test('retries when the server is down', async () => {
    const { mailer, server, events } = await start({ retryMs: [1, 1] })
    await server.close()
    mailer.enqueue('invite', async () => compose())
    await waitForEvents(events, 3)
    expect(events.map(({ state, reason }) => `${state} ${reason}`)).toEqual([
      'retrying ESOCKET',
      'retrying ESOCKET',
      'failed ESOCKET',
    ])
  })

  test('is bounded: drops emails above the limit, and sends the others', async () => {
    const { mailer, server, events } = await start({ maxQueued: 3 })
    for (let count = 0; count < 5; count += 1) mailer.enqueue('invite', async () => compose())
    expect(events.map(({ state, reason }) => [state, reason])).toEqual([
      ['dropped', 'queueFull'],
      ['dropped', 'queueFull'],
    ])
    await mailer.close()
    expect(server.received).toHaveLength(3)
    mailer.enqueue('invite', async () => compose())
    expect(events.at(-1)?.reason).toBe('stopped')
  })

  test('composes nothing before the caller continues', async () => {
    const { mailer } = await start()
    let composed = false
    mailer.enqueue('invite', async () => {
      composed = true
      return undefined
    })
    await Promise.resolve()
    expect(composed).toBe(false)
  })
})
