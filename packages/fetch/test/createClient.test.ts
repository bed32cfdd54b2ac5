import { isKeyrailError } from '@keyrail/core'
import { describe, expect, test } from 'vitest'
import { createClient } from '../src/index.ts'

const getMessage = (options: unknown): string => {
  try {
    createClient(options as never)
  } catch (error) {
    expect(isKeyrailError(error, 'invalidRequest')).toBe(true)
    return (error as Error).message
  }
  throw new Error('nothing was thrown')
}

describe('createClient reports a wrong option as its own', () => {
  test.each([
    [
      'https://node.example/v2/kr_a7Hq2mZ9xT4vB6n',
      `createClient takes an object of options or a transport, such as { url: 'http://127.0.0.1:8545' }, not a string`,
    ],
    [
      undefined,
      `createClient takes an object of options or a transport, such as { url: 'http://127.0.0.1:8545' }, not undefined`,
    ],
    [{ url: 'http://127.0.0.1:1', timeout: 5 }, 'Unknown option "timeout". Did you mean "timeoutMs"?'],
    [
      { url: undefined },
      'The URL is missing. Pass url, or baseUrl or rpcUrl with apiKey. If it comes from an environment variable, check that it is set.',
    ],
  ])('%j', (options, message) => {
    expect(getMessage(options)).toBe(message)
  })

  test('and lists the options if no name is similar', () => {
    expect(getMessage({ url: 'http://127.0.0.1:1', xyz: 5 })).toMatch(
      'Unknown option "xyz". The options of createClient are url, baseUrl, ',
    )
  })
})
