import { describe, expect, test } from 'vitest'
import cases from '@keyrail/vectors/addresses.json' with { type: 'json' }
import { findLeaks } from '../../test/leakWalk.ts'
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { EndpointUrlOptions } from './endpointUrlOptions.ts'
import { resolveEndpoint } from './resolveEndpoint.ts'
import { getUserAgentHeader } from './userAgent.ts'

const caught = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

describe('resolveEndpoint follows every case of the vectors', () => {
  for (const { name, options, expect: expected, why } of cases) {
    test(name, () => {
      const given = options as unknown as EndpointUrlOptions
      if (expected.rejection !== undefined) {
        const error = caught(() => resolveEndpoint(given))
        expect(isKeyrailError(error, 'invalidRequest'), why).toBe(true)
        expect((error as Error).message).toContain(expected.rejection)
        // No error repeats the key.
        expect((error as Error).message).not.toContain('7Hq2mZ9xT4')
        expect((error as Error).message).not.toContain('secretsecret')
        return
      }
      const endpoint = resolveEndpoint(given)
      const { url, headers } = endpoint.getTarget() as { url: string; headers: object }
      expect({ url, redactedUrl: endpoint.redactedUrl }, why).toEqual({
        url: expected.url,
        redactedUrl: expected.redactedUrl,
      })
      expect(headers).toEqual({ 'content-type': 'application/json', ...getUserAgentHeader(), ...expected.headers })
    })
  }
})

describe('a key from a function', () => {
  const base = { baseUrl: 'https://node.example' }

  test('is missing from the redacted URL until the first request, which shows its last 4 characters', async () => {
    const endpoint = resolveEndpoint({ ...base, apiKey: () => 'first-key-of-many-0001' })
    expect(endpoint.redactedUrl).toBe('https://node.example/v2/…')
    expect((await endpoint.getTarget()).redactedUrl).toBe('https://node.example/v2/…0001')
  })

  test('is read for each request, and the one before stays masked', async () => {
    let n = 0
    const endpoint = resolveEndpoint({ ...base, apiKey: async () => `rotating-key-number-${n++}` })
    await endpoint.getTarget()
    const second = await endpoint.getTarget()
    expect(second.url).toBe('https://node.example/v2/rotating-key-number-1')
    expect(second.secrets).toEqual(expect.arrayContaining(['rotating-key-number-1', 'rotating-key-number-0']))
  })

  test('follows the same rules', async () => {
    const endpoint = resolveEndpoint({ ...base, apiKey: () => 'https://node.example/v2/abcdefgh' })
    await expect(Promise.resolve(endpoint.getTarget())).rejects.toThrow('pass it as url')
  })

  test.each(['apiKey', 'jwt', 'headers'])('an error of the %s function does not appear in ours', async (option) => {
    const fail = (): never => {
      throw Object.assign(new RangeError('vault: the key abcdefghijkl is old'), { name: 'abcdefghijkl' })
    }
    const endpoint = resolveEndpoint({ ...base, apiKey: 'kr_a0', [option]: fail })
    const error = await Promise.resolve(endpoint.getTarget()).catch((error: unknown) => error)
    expect(isKeyrailError(error, 'invalidRequest')).toBe(true)
    expect(String(error)).toContain(`The ${option} function failed.`)
    expect(findLeaks(error, 'abcdefghijkl')).toEqual([])
  })

  test('may be a token too', async () => {
    const endpoint = resolveEndpoint({ url: 'http://127.0.0.1:8545', jwt: () => 'aaaa.bbbb.cccc' })
    expect((await endpoint.getTarget()).headers['authorization']).toBe('Bearer aaaa.bbbb.cccc')
  })

  test('never displaces the secrets of the URL, however often it is rotated', async () => {
    let n = 0
    const endpoint = resolveEndpoint({
      url: 'https://user:password1234@node.example/secret-in-the-path',
      headers: () => ({ 'x-request-id': `request-number-${n++}` }),
    })
    let target = await endpoint.getTarget()
    for (let i = 0; i < 100; i++) target = await endpoint.getTarget()
    expect(target.secrets).toEqual(
      expect.arrayContaining(['secret-in-the-path', 'password1234', 'request-number-100', 'request-number-99']),
    )
    expect(target.secrets.length).toBeLessThan(50)
  })
})

describe('a list of networks in an error', () => {
  test('is short, and hides names that may be keys', () => {
    const baseUrl = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`net${n}`, 'https://node.example']))
    const getMessage = (options: object): string => (caught(() => resolveEndpoint(options as never)) as Error).message
    expect(getMessage({ baseUrl, apiKey: 'k', network: 'sepolia' })).toMatch(/ has net0, .*net19, …[.]$/)
    const misplaced = { baseUrl: { abcdefghijklmnopqrstuvwxyz: 'https://node.example' }, apiKey: 'k' }
    expect(getMessage(misplaced)).toBe('baseUrl is a record of networks. Pass network, one of ….')
  })
})
