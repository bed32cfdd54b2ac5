import { afterEach, describe, expect, test, vi } from 'vitest'
import { ask, pathOf } from './ask.ts'
import { ControlFailure } from './controlFailure.ts'

afterEach(() => vi.unstubAllGlobals())

const answerWith = (response: Response): void => {
  vi.stubGlobal('fetch', () => Promise.resolve(response))
}

describe('pathOf', () => {
  test('puts params into the path and the query behind it, and nothing gets out of its place', () => {
    expect(pathOf('GET /api/apps/{appId}/metrics', { params: { appId: '../x?y' }, query: { range: 'hour' } })).toBe(
      '/api/apps/..%2Fx%3Fy/metrics?range=hour',
    )
    expect(pathOf('GET /api/apps', { query: {} })).toBe('/api/apps')
  })
})

describe('ask', () => {
  test('a rejection has its code, and each fault its field', async () => {
    answerWith(
      new Response(
        JSON.stringify({
          error: { code: 'invalid', message: 'No.', fields: [{ field: 'name', fix: 'must be' }], requestId: 'r1' },
        }),
        { status: 422 },
      ),
    )
    const failure = await ask('GET /api/session').catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ControlFailure)
    expect(failure).toMatchObject({
      code: 'invalid',
      status: 422,
      message: 'No.',
      fields: [{ field: 'name', fix: 'must be' }],
      requestId: 'r1',
    })
  })

  test('a page in place of an answer, and nothing at all, are told as what they are', async () => {
    answerWith(new Response('<html>Bad gateway</html>', { status: 502 }))
    await expect(ask('GET /api/session')).rejects.toMatchObject({ code: 'unknown', status: 502 })
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')))
    await expect(ask('GET /api/session')).rejects.toMatchObject({ code: 'unreachable', status: 0 })
  })

  test('who gives up is told so, and the service is not blamed', async () => {
    vi.stubGlobal('fetch', (_: string, { signal }: { signal: AbortSignal }) => Promise.reject(signal.reason as Error))
    const reason = new Error('gave up')
    await expect(ask('GET /api/session', undefined, AbortSignal.abort(reason))).rejects.toBe(reason)
  })
})
