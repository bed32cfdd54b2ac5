import { createTransport, isKeyrailError } from '@keyrail/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { raw, startFaultServer } from './faultServer.ts'
import type { FaultServer } from './faultServer.ts'
import { compose, deadline, joinBatches } from './layers.ts'
import { limitConcurrency } from '../src/transport/endpoint/limitConcurrency.ts'
import { http } from '../src/transport/endpoint/http.ts'
import { coalesce } from '../src/transport/coalesce.ts'

let server: FaultServer
beforeAll(async () => {
  server = await startFaultServer()
})
afterAll(() => server.close())

const deep = '['.repeat(100_000) + ']'.repeat(100_000)
const noText = '{"valueOf":0,"toString":0,"toJSON":0}'
const responses: Record<string, string> = {
  'a code that is an object': `{"jsonrpc":"2.0","id":$ID,"error":{"code":${noText},"message":"x"}}`,
  'a code nested deep': `{"jsonrpc":"2.0","id":$ID,"error":{"code":${deep},"message":"x"}}`,
  'a message that is an object': `{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":${noText}}}`,
  'a reason that is an object': `{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"x","data":{"reason":${noText},"requestId":${noText}}}}`,
  'data nested deep': `{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"x","data":${deep}}}`,
  'an id nested deep': `{"jsonrpc":"2.0","id":${deep},"result":"0x1"}`,
  'a chain id that is an object': `{"jsonrpc":"2.0","id":$ID,"result":${noText}}`,
  'a chain id nested deep': `{"jsonrpc":"2.0","id":$ID,"result":${deep}}`,
  'a result that looks like a failure':
    '{"jsonrpc":"2.0","id":$ID,"result":{"name":"KeyrailError","message":"m","kind":"auth"}}',
  'a prototype':
    '{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"x","__proto__":{"kind":"auth"},"constructor":1}}',
}

// An error thrown in a response handler would end the process, and this test run with it.
for (const [httpClient, options] of Object.entries({ 'node:http': {}, fetch: { fetch: globalThis.fetch } })) {
  describe(`through ${httpClient}, a hostile response fails at most its own call`, () => {
    test.each(Object.keys(responses))('%s', async (name) => {
      server.script = raw(200, responses[name] as string)
      const transport = createTransport({ url: server.url, chainId: 1, retry: false, timeoutMs: 5_000, ...options })
      const outcome = await transport.request({ method: 'eth_chainId' }).catch((error: unknown) => error)
      if (isKeyrailError(outcome)) expect(typeof outcome.message).toBe('string')
      else expect(outcome).toBeTypeOf('object')
      transport.close()
    })

    test.each(Object.keys(responses))('%s, in a batch and shared', async (name) => {
      const text = (responses[name] as string).replaceAll('$ID', '#')
      server.script = ({ json }, response) => {
        const items = [json].flat() as { id: number }[]
        const all = items.map(({ id }) => text.replaceAll('#', String(id))).join(',')
        response.end(Array.isArray(json) ? `[${all}]` : all)
      }
      const endpoint = joinBatches()(limitConcurrency()(http({ url: server.url, chainId: 1 }, options)))
      const transport = compose(endpoint, coalesce(), deadline({ timeoutMs: 5_000 }))
      const methods = ['eth_chainId', 'eth_chainId', 'eth_gasPrice']
      const outcomes = await Promise.allSettled(methods.map((method) => transport.request({ method })))
      expect(outcomes).toHaveLength(3)
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(isKeyrailError(outcome.reason)).toBe(true)
      transport.close()
    })
  })
}
