import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { memoryFetch } from './memoryFetch.ts'
import { answerAll } from './scriptedPost.ts'
import { createFullTransport } from './fullTransport.ts'
import type { FullOptions } from './fullTransport.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Makes a call with a timeout of 1,000 ms that waits 900 ms in a queue and then takes 800 ms. */
const callAfterQueue = async (options: Partial<FullOptions>): Promise<unknown> => {
  const memory = memoryFetch((sent) => ({ ...answerAll(sent), afterMs: memory.sent.length === 1 ? 900 : 800 }))
  const transport = createFullTransport({
    url: 'https://one.example',
    fetch: memory.fetch,
    maxInFlight: 1,
    retry: false,
    ...options,
  } as FullOptions)
  const first = transport.request({ method: 'eth_getCode', params: ['first'] })
  const second = transport.request({ method: 'eth_getCode', params: ['second'] }, { timeoutMs: 1_000 })
  const ends = Promise.allSettled([first, second])
  await vi.advanceTimersByTimeAsync(5_000)
  return (await ends)[1]
}

describe('time in a queue does not count towards the timeout', () => {
  test('of a call that shares no request', async () => {
    expect(await callAfterQueue({ coalesce: false })).toMatchObject({ status: 'fulfilled' })
  })

  test('of a call that could share a request', async () => {
    expect(await callAfterQueue({})).toMatchObject({ status: 'fulfilled' })
  })

  test('of a call with several endpoints', async () => {
    const endpoints = [{ url: 'https://one.example' }, { url: 'https://two.example', weight: 0 }]
    const end = await callAfterQueue({ url: undefined, endpoints, coalesce: false, attemptTimeoutMs: 5_000 } as object)
    expect(end).toMatchObject({ status: 'fulfilled' })
  })
})
