import { expect, test } from 'vitest'
import type { CallOptions } from './call.ts'
import { checkCallOptions } from './checkCallOptions.ts'

const expectRejected = (options: object, words: string): void =>
  expect(() => checkCallOptions(options as CallOptions)).toThrow(words)

test('a priority is one of three, or none', () => {
  for (const priority of [undefined, 'write', 'read', 'poll'] as const) checkCallOptions({ priority })
  for (const priority of ['', 'Write', 'write\n', ['write'], null, 1])
    expectRejected({ priority }, "priority must be 'write'")
})

test('a minBlock is a block number, true or false', () => {
  for (const minBlock of [undefined, true, false, 0, 5, 0n, 5n]) checkCallOptions({ minBlock })
  for (const minBlock of [-1, 1.5, Number.NaN, Infinity, -1n, '0x10', null, {}])
    expectRejected({ minBlock }, 'minBlock must be true, false, or a block number')
})

test('a signal is an AbortSignal', () => {
  checkCallOptions({ signal: new AbortController().signal })
  for (const signal of [5, 'abort', new AbortController()]) expectRejected({ signal }, 'signal must be an AbortSignal')
})

test('retries are a number of times', () => {
  for (const retries of [undefined, 0, 5]) checkCallOptions({ retries })
  for (const retries of [-1, Number.NaN, '5', null]) expectRejected({ retries }, 'retries must be a number from 0')
})

test('an option that does not exist is named', () => {
  expectRejected({ timeout: 5 }, 'Unknown option "timeout". Did you mean "timeoutMs"?')
})
