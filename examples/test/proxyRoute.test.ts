import { createClient } from '@keyrail/fetch'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../../packages/cli/test/runCli.ts'
import worker from '../key-on-server/worker.ts'
import { borrowService } from './lendService.ts'
import { startExample } from './runExample.ts'
import type { Running } from './runExample.ts'

const { service } = await borrowService()
const origin = 'https://shop.example'
const { apiKey } = service.app
const endpoint = { KEYRAIL_BASE_URL: `${service.url}/testnet`, KEYRAIL_API_KEY: apiKey }

let running: Running
let url = ''
beforeAll(async () => {
  running = startExample('key-on-server/serve.ts', {
    ...endpoint,
    ORIGINS: `https://other.example,,${origin}`,
    PORT: '0',
  })
  await until('the route to start', () => running.printed().stdout.includes('\n'))
  url = /http:\S+/.exec(running.printed().stdout)?.[0] ?? ''
})
afterAll(async () => {
  running.child.kill('SIGINT')
  expect(await running.done).toMatchObject({ exitCode: 0, stderr: '' })
})

interface ParsedResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: { result?: unknown; error?: { code: number; message: string; data?: unknown }; id?: unknown }
}

async function post(body: unknown, headers: Record<string, string> = { origin }): Promise<ParsedResponse> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  })
  const responseText = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text: responseText,
    body: JSON.parse(responseText) as ParsedResponse['body'],
  }
}

const call = (method: string, params: readonly unknown[] = [], id: unknown = 7): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
// Not even the last characters, which a redacted URL shows.
const expectNoKey = ({ text, headers }: ParsedResponse): void => {
  const visible = text + JSON.stringify([...headers])
  for (const secret of [apiKey, apiKey.slice(-4), new URL(service.url).host]) expect(visible).not.toContain(secret)
}

describe('examples/key-on-server', () => {
  test('responds to a page of an allowed origin', async () => {
    const response = await post(call('eth_chainId'))
    expect(response).toMatchObject({ status: 200, body: { jsonrpc: '2.0', id: 7, result: '0x74657374' } })
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
    expectNoKey(response)
  })

  test('responds to a page of its own origin, which is not listed', async () => {
    expect(await post(call('eth_chainId'), { origin: new URL(url).origin })).toMatchObject({ status: 200 })
  })

  test('responds to a CORS preflight request', async () => {
    const response = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
    expect(response.headers.get('access-control-allow-headers')).toBe('content-type')
  })

  test.each([
    ['a page of another origin', { origin: 'https://shop.example.evil.example' }, 'evil.example is not allowed'],
    ['a page of another port', { origin: 'http://127.0.0.1:9' }, 'http://127.0.0.1:9 is not allowed'],
    ['a request without an origin', {}, 'The request has no Origin header'],
  ])('rejects %s', async (_, headers, message) => {
    const response = await post(call('eth_chainId'), headers)
    expect(response.status).toBe(403)
    expect(response.text).toContain(message)
    expect(response.headers.get('access-control-allow-origin')).toBe(null)
  })

  test.each([
    ['a method that is not allowed', call('eth_sendRawTransaction', ['0x00']), 200, -32601],
    ['a batch', [call('eth_chainId')], 400, -32600],
    ['an id that is an object', call('eth_chainId', [], {}), 400, -32600],
    ['a body that is not JSON', '{', 400, -32600],
  ])('rejects %s', async (_, body, status, code) => {
    expect(await post(body)).toMatchObject({ status, body: { error: { code } } })
  })

  test('accepts only POST', async () => {
    const response = await fetch(url, { headers: { origin } })
    expect(response.status).toBe(405)
  })

  test('forwards the error of the node, and the page can read it', async () => {
    const token = '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'
    const response = await post(call('eth_call', [{ to: token, data: '0xdeadbeef' }, 'latest']))
    expect(response).toMatchObject({
      status: 200,
      body: { error: { code: 3, message: expect.stringContaining('revert') } },
    })
    expectNoKey(response)
    const client = createClient({
      url,
      fetch: (input, init) =>
        fetch(input, { ...init, headers: { ...(init?.headers as Record<string, string>), origin } }),
    })
    expect(await client.eth_chainId()).toBe('0x74657374')
    await expect(client.eth_call({ to: token, data: '0xdeadbeef' }, 'latest')).rejects.toMatchObject({ kind: 'revert' })
    client.close()
  })

  describe('as a Worker', () => {
    const send = (body: string | ReadableStream): Promise<Response> =>
      worker.fetch(
        new Request('https://edge.example/', { method: 'POST', headers: { origin }, body, duplex: 'half' }),
        {
          KEYRAIL_BASE_URL: endpoint.KEYRAIL_BASE_URL,
          // A key of the other kind, which is rejected at the URL of an app.
          KEYRAIL_API_KEY: service.keys.testnet.apiKey,
          ORIGIN: origin,
        },
      )

    test('reports only the kind of failure of a rejected key, and logs how to fix it', async () => {
      const log = vi.spyOn(console, 'error').mockImplementation(() => {})
      onTestFinished(() => log.mockRestore())
      const response = await send(JSON.stringify(call('eth_blockNumber')))
      const text = await response.text()
      expect(response.status).toBe(502)
      expect(JSON.parse(text)).toMatchObject({ error: { code: -32603, message: 'The call failed: auth' } })
      expect(text + JSON.stringify([...response.headers])).not.toContain(service.keys.testnet.apiKey.slice(-4))
      expect(log.mock.calls).toEqual([[expect.stringMatching(/^eth_blockNumber failed [(]auth.*Check the API key/)]])
      expect(String(log.mock.calls)).not.toContain(service.keys.testnet.apiKey)
    })

    test('stops reading a body that is too large', async () => {
      let sentBytes = 0
      const endless = new ReadableStream({
        pull: (controller) => {
          sentBytes += 16_384
          controller.enqueue(new Uint8Array(16_384))
        },
      })
      const response = await send(endless)
      expect(response.status).toBe(413)
      expect(sentBytes).toBeLessThan(200_000)
    })
  })
})
