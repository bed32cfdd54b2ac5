import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { layer } from '../src/transport/layer.ts'
import { memoryFetch } from './memoryFetch.ts'
import { echoAll } from './scriptedPost.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions } from './fullTransport.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Makes calls with a timeout of 1,000 ms that wait 900 ms in a queue and then take 800 ms. Returns the outcome of the last one. */
const callAfterQueue = async (options: Partial<FullOptions>, calls = 1): Promise<unknown> => {
  const memory = memoryFetch((sent) => ({ ...echoAll(sent), afterMs: memory.sent.length === 1 ? 900 : 800 }))
  const transport = createFullTransport({
    url: 'https://one.example',
    fetch: memory.fetch,
    maxInFlight: 1,
    retry: false,
    ...options,
  } as FullOptions)
  const first = transport.request({ method: 'eth_getCode', params: ['first'] })
  const queued = Array.from({ length: calls }, () =>
    transport.request({ method: 'eth_getCode', params: ['second'] }, { timeoutMs: 1_000 }),
  )
  const ends = Promise.allSettled([first, ...queued])
  await vi.advanceTimersByTimeAsync(5_000)
  return (await ends).at(-1)
}

describe('time in a queue does not count towards the timeout', () => {
  test('of a call that shares no request', async () => {
    expect(await callAfterQueue({ coalesce: false })).toMatchObject({ status: 'fulfilled' })
  })

  test('of a call that could share a request', async () => {
    expect(await callAfterQueue({})).toMatchObject({ status: 'fulfilled' })
  })

  test('of a call that joined the request of another call', async () => {
    expect(await callAfterQueue({}, 2)).toMatchObject({ status: 'fulfilled' })
  })

  test('of a call that joined the request of another call below a layer of the user', async () => {
    const passOn = layer((request) => (args, options) => request(args, options))
    expect(await callAfterQueue({ layers: [passOn] }, 2)).toMatchObject({ status: 'fulfilled' })
  })

  test('of a call with several endpoints', async () => {
    const endpoints = [{ url: 'https://one.example' }, { url: 'https://two.example', weight: 0 }]
    const end = await callAfterQueue({ url: undefined, endpoints, coalesce: false, attemptTimeoutMs: 5_000 } as object)
    expect(end).toMatchObject({ status: 'fulfilled' })
  })
})
