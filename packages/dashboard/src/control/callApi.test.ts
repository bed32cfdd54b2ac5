import { afterEach, describe, expect, test, vi } from 'vitest'
import { callApi, toPath } from './callApi.ts'
import { ControlFailure } from './controlFailure.ts'

afterEach(() => vi.unstubAllGlobals())

const respondWith = (response: Response): void => {
  vi.stubGlobal('fetch', () => Promise.resolve(response))
}

describe('toPath', () => {
  test('escapes path parameters and appends the query', () => {
    expect(toPath('GET /api/apps/{appId}/metrics', { params: { appId: '../x?y' }, query: { range: 'hour' } })).toBe(
      '/api/apps/..%2Fx%3Fy/metrics?range=hour',
    )
    expect(toPath('GET /api/apps', { query: {} })).toBe('/api/apps')
  })
})

describe('callApi', () => {
  test('an error response has its code and fields', async () => {
    respondWith(
      new Response(
        JSON.stringify({
          error: { code: 'invalid', message: 'No.', fields: [{ field: 'name', fix: 'must be' }], requestId: 'r1' },
        }),
        { status: 422 },
      ),
    )
    const failure = await callApi('GET /api/session').catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ControlFailure)
    expect(failure).toMatchObject({
      code: 'invalid',
      status: 422,
      message: 'No.',
      fields: [{ field: 'name', fix: 'must be' }],
      requestId: 'r1',
    })
  })

  test('distinguishes an unexpected response from no response', async () => {
    respondWith(new Response('<html>Bad gateway</html>', { status: 502 }))
    await expect(callApi('GET /api/session')).rejects.toMatchObject({ code: 'unknown', status: 502 })
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')))
    await expect(callApi('GET /api/session')).rejects.toMatchObject({ code: 'unreachable', status: 0 })
  })

  test("an abort throws the signal's reason", async () => {
    vi.stubGlobal('fetch', (_: string, { signal }: { signal: AbortSignal }) => Promise.reject(signal.reason as Error))
    const reason = new Error('gave up')
    await expect(callApi('GET /api/session', undefined, AbortSignal.abort(reason))).rejects.toBe(reason)
  })
})
