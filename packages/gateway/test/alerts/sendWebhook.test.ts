import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findWebhookUrlProblem, sendWebhook } from '../../src/alerts/sendWebhook.ts'
import { createWebhookSecret, listWebhookSecrets, rotateWebhookSecret } from '../../src/alerts/webhookSecret.ts'
import { startReceiver } from './startReceiver.ts'
import type { ReceivedRequest, Receiver } from './startReceiver.ts'
import { verifyWebhook } from './verifyWebhook.ts'

const secret = createWebhookSecret()
const secrets = [secret]
const [id, body] = ['evt_1', '{"type":"webhook.test","timestamp":"2026-11-23T09:00:00.000Z","data":{}}']
// The receiver's library compares with its own clock.
const now = Date.now()

const dayMs = 86_400_000

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
    expect(await sendWebhook({ url, id, body, secrets }, { allowPrivate: true, now })).toEqual({
      ok: true,
      result: 'HTTP 204',
    })
    const [request] = receiver.requests
    expect(request).toMatchObject({ method: 'POST', path: '/hook?key=1', body })
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now / 1_000)),
    })
    expect(verifyWebhook(request, secret)).toEqual(JSON.parse(body))
    expect(() => verifyWebhook(request, createWebhookSecret())).toThrow('No matching signature')
    expect(() => verifyWebhook(request && { ...request, body: `${body} ` }, secret)).toThrow('No matching signature')
  })

  test('is signed with the previous secret too for a day after a rotation', async () => {
    const { secret: newest, text } = rotateWebhookSecret(secret, now)
    const send = async (at: number): Promise<ReceivedRequest | undefined> => {
      const options = { allowPrivate: true, now }
      await sendWebhook({ url: receiver.url, id, body, secrets: listWebhookSecrets(text, at) }, options)
      return receiver.requests.pop()
    }
    const during = await send(now + dayMs - 1)
    expect(String(during?.headers['webhook-signature'])).toMatch(/^v1,\S{44} v1,\S{44}$/)
    for (const one of [secret, newest]) expect(verifyWebhook(during, one)).toEqual(JSON.parse(body))
    const after = await send(now + dayMs)
    expect(verifyWebhook(after, newest)).toEqual(JSON.parse(body))
    expect(() => verifyWebhook(after, secret)).toThrow('No matching signature')
    // A second rotation retires the first secret.
    const again = rotateWebhookSecret(text, now)
    expect(listWebhookSecrets(again.text, now)).toEqual([again.secret, newest])
    expect(listWebhookSecrets(again.text, now + dayMs)).toEqual([again.secret])
  })

  test('is verified with a secret of an earlier build, whose base64 was that of URLs', async () => {
    const bytes = Buffer.concat([Buffer.from('fbefbefbff', 'hex'), randomBytes(27)])
    await sendWebhook(
      { url: receiver.url, id, body, secrets: [`whsec_${bytes.toString('base64url')}`] },
      { allowPrivate: true, now },
    )
    expect(verifyWebhook(receiver.requests[0], `whsec_${bytes.toString('base64')}`)).toEqual(JSON.parse(body))
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
    expect(await sendWebhook({ url: receiver.url, id, body, secrets }, options)).toEqual({ ok: false, result })
    expect(receiver.requests).toHaveLength(1)
  })

  test('that rejects connections has failed', async () => {
    const other = await startReceiver()
    await other.close()
    expect(await sendWebhook({ url: other.url, id, body, secrets }, { allowPrivate: true, now })).toEqual({
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
      const result = await sendWebhook({ url, id, body, secrets }, { allowPrivate: false, now })
      expect(result).toEqual({ ok: false, result: 'privateAddress' })
      expect(receiver.requests).toEqual([])
    },
  )

  test('whose name resolves to a private address gets no connection', async () => {
    // The trailing dot makes it a name that is not recognized as localhost, but resolves to it.
    const url = `https://localhost.:${receiver.port}/`
    const result = await sendWebhook({ url, id, body, secrets }, { allowPrivate: false, now })
    expect([
      { ok: false, result: 'privateAddress', address: '127.0.0.1' },
      { ok: false, result: 'privateAddress', address: '::1' },
      { ok: false, result: 'ENOTFOUND' },
      { ok: false, result: 'EAI_AGAIN' },
    ]).toContainEqual(result)
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
