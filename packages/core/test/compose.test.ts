import { describe, expect, test } from 'vitest'
import type { Call, Layer } from '../src/transport/call/call.ts'
import { createTransport } from '../src/transport/createTransport.ts'
import type { Endpoint } from '../src/transport/endpoint/http.ts'
import { compose, deadline } from './layers.ts'

const echo = (seen: Call[] = []): Endpoint => ({
  redactedUrl: 'https://node.example/…',
  close: () => {},
  send: (call, complete) => {
    seen.push(call)
    complete(true, `${call.method}${call.params}`)
  },
})
const silent: Endpoint = {
  redactedUrl: 'https://node.example/…',
  close: () => {},
  send: (call, complete) => {
    call.cancel = (reason) => complete(false, reason)
  },
}

describe('compose', () => {
  test('passes a call through the last layer first', async () => {
    const order: string[] = []
    const mark =
      (name: string): Layer =>
      (next) =>
      (call, complete) => {
        order.push(name)
        next(call, complete)
      }
    await compose(echo(), mark('inner'), mark('outer')).request({ method: 'eth_chainId' })
    expect(order).toEqual(['outer', 'inner'])
  })

  test('serializes params once, as JSON, without trailing undefined params', async () => {
    const transport = compose(echo())
    expect(await transport.request({ method: 'eth_a' })).toBe('eth_a[]')
    expect(await transport.request({ method: 'eth_a', params: [{ to: '0x1' }, undefined] })).toBe('eth_a[{"to":"0x1"}]')
    expect(await transport.request({ method: 'eth_a', params: [null] })).toBe('eth_a[null]')
  })

  test.each([
    ['no arguments', undefined, 'request takes { method, params }'],
    ['no method', {}, 'request takes { method, params }'],
    ['an empty method', { method: '' }, 'request takes { method, params }'],
    [
      'a lone param',
      { method: 'eth_call', params: 'latest' },
      'params of eth_call must be an array or an object of JSON values',
    ],
    ['a bigint', { method: 'eth_getBlockByNumber', params: [1n] }, "write numbers as hex, such as '0x10'"],
  ])('rejects a call with %s, and sends nothing', async (_, args, message) => {
    const seen: Call[] = []
    const call = compose(echo(seen)).request(args as never)
    await expect(call).rejects.toMatchObject({ kind: 'invalidRequest', source: 'client' })
    await expect(call).rejects.toThrow(message)
    expect(seen).toEqual([])
  })

  test('rejects with the reason of the caller\u2019s abort, of any type', async () => {
    for (const reason of [new Error('mine'), 'text', null, 0]) {
      const controller = new AbortController()
      const call = compose(silent, deadline()).request({ method: 'eth_chainId' }, { signal: controller.signal })
      controller.abort(reason)
      await expect(call).rejects.toBe(reason)
    }
  })

  test('sends nothing if the signal is already aborted', async () => {
    const seen: Call[] = []
    const call = compose(echo(seen)).request({ method: 'eth_chainId' }, { signal: AbortSignal.abort('before') })
    await expect(call).rejects.toBe('before')
    expect(seen).toEqual([])
  })

  test('close() ends calls in flight and rejects new ones', async () => {
    const transport = compose(silent, deadline())
    const calls = [transport.request({ method: 'eth_chainId' }), transport.request({ method: 'eth_getLogs' })]
    transport.close()
    for (const call of calls)
      await expect(call).rejects.toMatchObject({ kind: 'aborted', source: 'client', retryable: false })
    await expect(transport.request({ method: 'eth_chainId' })).rejects.toMatchObject({ kind: 'aborted' })
  })

  test('closes at the end of its block with await using', async () => {
    let disposed
    {
      await using transport = compose(echo())
      disposed = transport
      expect(await disposed.request({ method: 'eth_chainId' })).toBe('eth_chainId[]')
    }
    await expect(disposed.request({ method: 'eth_chainId' })).rejects.toMatchObject({ kind: 'aborted' })
  })
})

describe('createTransport', () => {
  test('rejects an invalid option immediately', () => {
    const url = 'http://127.0.0.1:1'
    expect(() => createTransport({ url, timeoutMs: -1 })).toThrow('timeoutMs must be a number')
    expect(() => createTransport({ url, maxResponseBytes: 0 })).toThrow('maxResponseBytes must be a number')
    expect(() => createTransport({ url, retry: -1 })).toThrow('retries must be a number')
    expect(() => createTransport({ url, fetch: 'fetch' as never })).toThrow('fetch must be a function')
    expect(() => createTransport({ url, retries: 5 } as never)).toThrow(
      'Unknown option "retries". Did you mean "retry"?',
    )
  })
})
