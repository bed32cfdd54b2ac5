import { describe, expect, test } from 'vitest'
import cases from '@keyrail/vectors/addresses.json' with { type: 'json' }
import { isKeyrailError } from '../failure/keyrailError.ts'
import type { AddressOptions } from './addressOptions.ts'
import { openAddress } from './openAddress.ts'

const caught = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

describe('openAddress decides every case of the vectors', () => {
  for (const { name, options, expect: wanted, why } of cases) {
    test(name, () => {
      const given = options as unknown as AddressOptions
      if (wanted.rejection !== undefined) {
        const error = caught(() => openAddress(given))
        expect(isKeyrailError(error, 'invalidRequest'), why).toBe(true)
        expect((error as Error).message).toContain(wanted.rejection)
        // Whatever was wrong, the key is not repeated.
        expect((error as Error).message).not.toContain('7Hq2mZ9xT4')
        expect((error as Error).message).not.toContain('secretsecret')
        return
      }
      const address = openAddress(given)
      const { url, headers } = address.open() as { url: string; headers: object }
      expect({ url, redactedUrl: address.redactedUrl }, why).toEqual({
        url: wanted.url,
        redactedUrl: wanted.redactedUrl,
      })
      expect(headers).toEqual({ 'content-type': 'application/json', ...wanted.headers })
    })
  }
})

describe('an address whose key comes from a function', () => {
  const base = { baseUrl: 'https://node.example' }

  test('is labelled without the key until it is known, and with its last 4 afterwards', async () => {
    const address = openAddress({ ...base, apiKey: () => 'first-key-of-many-0001' })
    expect(address.redactedUrl).toBe('https://node.example/v2/…')
    expect((await address.open()).redactedUrl).toBe('https://node.example/v2/…0001')
  })

  test('asks for the key each time, and keeps masking the one before', async () => {
    let n = 0
    const address = openAddress({ ...base, apiKey: async () => `rotating-key-number-${n++}` })
    await address.open()
    const second = await address.open()
    expect(second.url).toBe('https://node.example/v2/rotating-key-number-1')
    expect(second.secrets).toEqual(expect.arrayContaining(['rotating-key-number-1', 'rotating-key-number-0']))
  })

  test('refuses what the function gives by the same rules', async () => {
    const address = openAddress({ ...base, apiKey: () => 'https://node.example/v2/abcdefgh' })
    await expect(Promise.resolve(address.open())).rejects.toThrow('pass it as url')
  })

  test('tells that the function failed, but not what it said', async () => {
    const address = openAddress({
      ...base,
      apiKey: () => {
        throw new RangeError('vault says: the key abcdefghijkl is old')
      },
    })
    const error = await Promise.resolve(address.open()).catch((error: unknown) => error)
    expect(String(error)).toContain('the apiKey function failed')
    expect(String(error)).not.toContain('abcdefgh')
  })

  test('takes the token from a function too', async () => {
    const address = openAddress({ url: 'http://127.0.0.1:8545', jwt: () => 'aaaa.bbbb.cccc' })
    expect((await address.open()).headers['authorization']).toBe('Bearer aaaa.bbbb.cccc')
  })
})
