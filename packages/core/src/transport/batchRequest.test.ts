import { describe, expect, test } from 'vitest'
import { createBatchRequest } from './batchRequest.ts'

describe('createBatchRequest', () => {
  test('reports how each call ended, in the order of the calls', async () => {
    let endLast = (): void => {}
    const last = new Promise<void>((resolve) => (endLast = resolve))
    const all = createBatchRequest(async ({ method }) => {
      if (method === 'eth_call') throw new RangeError('mine')
      // The first call ends last.
      if (method === 'eth_chainId') await last
      else setImmediate(endLast)
      return method
    })
    const calls = ['eth_chainId', 'eth_call', 'eth_gasPrice'].map((method) => ({ method }))
    expect(await all(calls)).toEqual([
      { status: 'fulfilled', value: 'eth_chainId' },
      { status: 'rejected', reason: new RangeError('mine') },
      { status: 'fulfilled', value: 'eth_gasPrice' },
    ])
  })

  test('gives all calls of one batch the same object, each batch its own, and passes options on', async () => {
    const seen: unknown[][] = []
    const all = createBatchRequest(async (args, given, together) => seen.push([args, given, together?.batch]))
    const options = { timeoutMs: 5 }
    await all([{ method: 'eth_a' }, { method: 'eth_b' }], options)
    await all([{ method: 'eth_c' }])
    expect(seen.map(([args, given]) => [args, given])).toEqual([
      [{ method: 'eth_a' }, options],
      [{ method: 'eth_b' }, options],
      [{ method: 'eth_c' }, undefined],
    ])
    const [first, second, third] = seen.map(([, , batch]) => batch)
    expect(first).toBeInstanceOf(Object)
    expect(second).toBe(first)
    expect(third).toBeInstanceOf(Object)
    expect(third).not.toBe(first)
  })

  test('accepts an empty array, and rejects a value that is not an array', async () => {
    const all = createBatchRequest(async () => 1)
    expect(await all([])).toEqual([])
    for (const wrong of [undefined, null, {}, 'eth_a', { method: 'eth_a' }])
      await expect(all(wrong as never)).rejects.toMatchObject({ kind: 'invalidRequest', source: 'client' })
  })
})
