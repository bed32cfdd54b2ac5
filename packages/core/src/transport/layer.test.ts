import { afterEach, describe, expect, test, vi } from 'vitest'
import { now } from '../clock/now.ts'
import { createStats } from '../observe/stats.ts'
import type { AttemptEvent } from '../observe/transportEvent.ts'
import type { Call } from './call/call.ts'
import { endWait, startWait } from './call/callProgress.ts'
import { createCall } from './call/createCall.ts'
import type { Endpoint } from './endpoint/http.ts'
import { layer } from './layer.ts'
import { compose, deadline, observe } from '../../test/layers.ts'

const redactedUrl = 'https://node.example/…'
const close = (): void => {}
const echo = (seen: Call[] = []): Endpoint => ({
  redactedUrl,
  close,
  send: (call, complete) => {
    seen.push(call)
    call.emit?.({ type: 'attempt', redactedUrl, batchSize: 1 })
    call.emit?.({ type: 'attempted', redactedUrl, durationMs: 1 })
    complete(true, `${call.method}${call.params}`)
  },
})
const silent: Endpoint = {
  redactedUrl,
  close,
  send: (call, complete) => {
    call.cancel = (reason) => complete(false, reason)
  },
}
const through = layer((request) => (args, options) => request(args, options))

afterEach(() => {
  vi.useRealTimers()
})

describe('layer', () => {
  test('wraps calls by a function from request to request', async () => {
    const seen: unknown[] = []
    const noted = layer((request) => async (args, options) => {
      seen.push(args)
      return `<${String(await request(args, options))}>`
    })
    expect(await compose(echo(), noted, deadline()).request({ method: 'eth_a', params: ['0x1'] })).toBe(
      '<eth_a["0x1"]>',
    )
    expect(seen).toEqual([{ method: 'eth_a', params: ['0x1'] }])
  })

  test('passes on what the function throws', async () => {
    const broken = layer(() => () => {
      throw new RangeError('mine')
    })
    await expect(compose(echo(), broken).request({ method: 'eth_a' })).rejects.toThrow(RangeError)
  })

  test('passes an abort and a deadline to the layers below', async () => {
    const reasons: unknown[] = []
    const below: Endpoint = {
      ...silent,
      send: (call, complete) => {
        call.cancel = (reason) => {
          reasons.push(reason)
          complete(false, reason)
        }
      },
    }
    const transport = compose(
      below,
      layer((request) => (args, options) => request(args, options)),
      deadline({ timeoutMs: 30 }),
    )
    const controller = new AbortController()
    const aborted = transport.request({ method: 'eth_a' }, { signal: controller.signal })
    setTimeout(() => controller.abort('enough'), 5)
    await expect(aborted).rejects.toBe('enough')
    await expect(transport.request({ method: 'eth_a' })).rejects.toMatchObject({ kind: 'timeout' })
    expect(reasons[0]).toBe('enough')
    expect(reasons[1]).toMatchObject({ kind: 'timeout' })
  })

  test.each([
    ['the options it is given', (given: object | undefined) => given],
    ['a copy of them', (given: object | undefined) => ({ ...given, timeoutMs: 50 })],
    ['their signal alone', (given: { signal?: AbortSignal | undefined } | undefined) => ({ signal: given?.signal })],
  ])('lets hooks and statistics see what happens below a function that passes on %s', async (_, copy) => {
    const stats = createStats()
    const onAttempt = vi.fn<(event: AttemptEvent) => void>()
    const passing = layer((request) => (args, options) => request(args, copy(options)))
    const transport = compose(echo(), passing, observe({ stats, hooks: { onAttempt } }))
    await Promise.all([transport.request({ method: 'eth_a' }), transport.request({ method: 'eth_b' })])
    expect(stats.snapshot()).toMatchObject({
      calls: 2,
      answered: 2,
      requests: 2,
      endpoints: { [redactedUrl]: { requests: 2 } },
    })
    expect(onAttempt.mock.calls.map(([{ method }]) => method)).toEqual(['eth_a', 'eth_b'])
  })

  test('counts each call that the function makes for one call', async () => {
    const onAttempt = vi.fn<(event: AttemptEvent) => void>()
    const twice = layer((request) => async (args, options) => {
      await request({ method: 'eth_chainId' }, options)
      return request(args, options)
    })
    await compose(echo(), twice, observe({ hooks: { onAttempt } })).request({ method: 'eth_a' })
    expect(onAttempt.mock.calls.map(([{ method, attempt }]) => [method, attempt])).toEqual([
      ['eth_a', 1],
      ['eth_a', 2],
    ])
  })

  test('reports no events of calls that the function makes after its call has ended', async () => {
    const stats = createStats()
    let late: Promise<unknown> | undefined
    const early = layer((request) => async (args, options) => {
      late = new Promise((resolve) => setTimeout(resolve, 5)).then(() => request(args, options))
      return 'early'
    })
    expect(await compose(echo(), early, observe({ stats })).request({ method: 'eth_a' })).toBe('early')
    await late
    expect(stats.snapshot()).toMatchObject({ calls: 1, answered: 1, requests: 0 })
  })

  test('keeps the calls that a call makes in its group and batch, and no other calls', async () => {
    const seen: Call[] = []
    const asides = layer((request) => async (args, options) => {
      await request({ method: 'eth_aside' })
      return request(args, options)
    })
    const send = asides(echo(seen).send, { redactedUrl })
    const [group, batch] = [{}, {}]
    const call = { ...createCall('eth_a', '[]', {}), group, batch }
    await new Promise<void>((resolve) => send(call, () => resolve()))
    expect(seen.map(({ method }) => method)).toEqual(['eth_aside', 'eth_a'])
    expect(seen[0]).toMatchObject({ group: undefined, batch: undefined })
    expect(seen[1]?.group).toBe(group)
    expect(seen[1]?.batch).toBe(batch)
  })

  test('keeps the priority and the minBlock of a call', async () => {
    const seen: Call[] = []
    await compose(echo(seen), through).request({ method: 'eth_a' }, { priority: 'poll', minBlock: 7 })
    expect(seen[0]?.options).toMatchObject({ priority: 'poll', minBlock: 7 })
  })

  test('does not count the time that a call waits in a queue below, as without the layer', async () => {
    vi.useFakeTimers()
    const queue: Endpoint = {
      ...silent,
      send: (call, complete) => {
        const entry = { since: now() }
        startWait(call, entry)
        setTimeout(() => {
          endWait(call, entry, now())
          complete(true, 'after the wait')
        }, 500)
      },
    }
    const response = compose(queue, through, deadline({ timeoutMs: 100 })).request({ method: 'eth_a' })
    await vi.advanceTimersByTimeAsync(500)
    expect(await response).toBe('after the wait')
  })

  test('passes on a call whose deadline has nearly passed', async () => {
    vi.useFakeTimers()
    const seen: Call[] = []
    const call = { ...createCall('eth_a', '[]', {}), deadlineAt: now() + 0.25 }
    const value = await new Promise((resolve) =>
      through(echo(seen).send, { redactedUrl })(call, (_, is) => resolve(is)),
    )
    expect(value).toBe('eth_a[]')
  })
})
