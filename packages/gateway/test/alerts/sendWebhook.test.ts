import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findWebhookUrlProblem, sendWebhook } from '../../src/alerts/sendWebhook.ts'
import { createWebhookSecret } from '../../src/alerts/webhookSecret.ts'
import { startReceiver } from './startReceiver.ts'
import type { Receiver } from './startReceiver.ts'

const secret = createWebhookSecret()
const body = '{"id":"evt_1"}'
const now = 1_700_000_000_123

let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
beforeEach(() => {
  receiver.requests.length = 0
})
afterAll(() => receiver.close())

describe('a webhook', () => {
  test('gets a signed POST with JSON', async () => {
    const url = `${receiver.url}/hook?key=1`
    expect(await sendWebhook({ url, body, secret }, { allowPrivate: true, now })).toEqual({
      ok: true,
      result: 'HTTP 204',
    })
    const [request] = receiver.requests
    expect(request).toMatchObject({ method: 'POST', path: '/hook?key=1', body })
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'keyrail-signature': `t=1700000000,v1=${createHmac('sha256', secret).update(`1700000000.${body}`).digest('hex')}`,
    })
  })

  test.each([
    [500, 'HTTP 500'],
    [404, 'HTTP 404'],
    [302, 'HTTP 302'],
    [307, 'HTTP 307'],
    [0, 'timeout'],
  ])('that responds with %d has failed, and redirects are not followed', async (status, result) => {
    receiver.statuses.push(status)
    const options = { allowPrivate: true, now, timeoutMs: 300 }
    expect(await sendWebhook({ url: receiver.url, body, secret }, options)).toEqual({ ok: false, result })
    expect(receiver.requests).toHaveLength(1)
  })

  test('that rejects connections has failed', async () => {
    const other = await startReceiver()
    await other.close()
    expect(await sendWebhook({ url: other.url, body, secret }, { allowPrivate: true, now })).toEqual({
      ok: false,
      result: 'ECONNREFUSED',
    })
  })

  // 127.0.0.1 in other forms, and names that resolve to it.
  test.each(['127.0.0.1', '2130706433', '0x7f.1', '127.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', 'localhost'])(
    'of a private address gets no request: %s',
    async (host) => {
      const url = `https://${host}:${receiver.port}/`
      expect(findWebhookUrlProblem(url, { allowPrivate: false })).toMatch(/public address/)
      const result = await sendWebhook({ url, body, secret }, { allowPrivate: false, now })
      expect(result).toEqual({ ok: false, result: 'privateAddress' })
      expect(receiver.requests).toEqual([])
    },
  )

  test('whose name resolves to a private address gets no connection', async () => {
    // The trailing dot makes it a name that is not recognized as localhost, but resolves to it.
    const url = `https://localhost.:${receiver.port}/`
    const { ok, result } = await sendWebhook({ url, body, secret }, { allowPrivate: false, now })
    expect(ok).toBe(false)
    expect(['privateAddress', 'ENOTFOUND', 'EAI_AGAIN']).toContain(result)
    expect(receiver.requests).toEqual([])
  })

  test.each([
    ['http://hooks.example.org/', /https URL/],
    ['ftp://hooks.example.org/', /https URL/],
    ['hooks.example.org', /https URL/],
    ['https://ann:secret@hooks.example.org/', /no user, no password/],
    ['https://hooks.example.org/#fragment', /no fragment/],
    [`https://hooks.example.org/${'a'.repeat(2_000)}`, /at most 2000/],
    ['https://169.254.169.254/latest/meta-data', /public address/],
    ['https://10.0.0.1/', /public address/],
    ['https://metadata.localhost/', /public address/],
  ])('cannot have the URL %s', (url, problem) => {
    expect(findWebhookUrlProblem(url, { allowPrivate: false })).toMatch(problem)
  })

  test('can have a public https URL, and with the permission of the operator others', () => {
    expect(findWebhookUrlProblem('https://hooks.example.org:8443/a?b=c', { allowPrivate: false })).toBeUndefined()
    expect(findWebhookUrlProblem('http://10.0.0.1/', { allowPrivate: true })).toBeUndefined()
    expect(findWebhookUrlProblem('file:///etc/passwd', { allowPrivate: true })).toMatch(/http or https/)
  })
})
