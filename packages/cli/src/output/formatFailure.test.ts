import { KeyrailError } from '@keyrail/core'
import type { FailureKind, FailureSource } from '@keyrail/core'
import { describe, expect, test } from 'vitest'
import { CliError } from '../cliError.ts'
import { formatFailure } from './formatFailure.ts'
import { maskKeys } from './maskKeys.ts'
import { plain } from './style.ts'

describe('formatFailure', () => {
  test('tells the kind, the message, what came with it and the hint, each once', () => {
    const error = new KeyrailError('eth_call was rejected: too many requests. Slow down.', {
      kind: 'throttled',
      source: 'service',
      retryable: true,
      retryAfterMs: 1_200,
      hint: 'Slow down.',
      rpcError: { code: -32005, message: 'too many requests', data: { reason: 'rate' } },
    })
    expect(formatFailure(error, plain)).toEqual({
      lines: [
        'throttled: eth_call was rejected: too many requests.',
        '  data: {"reason":"rate"}',
        '  try again in 2 s',
        '  hint: Slow down.',
      ],
      exitCode: 1,
    })
  })

  test.each<[FailureKind, FailureSource, number]>([
    ['auth', 'service', 1],
    ['revert', 'node', 1],
    ['invalidRequest', 'node', 1],
    ['invalidRequest', 'client', 2],
    ['network', 'transport', 3],
    ['timeout', 'client', 3],
    ['badResponse', 'transport', 3],
    ['unavailable', 'service', 1],
  ])('%s from the %s ends with %i', (kind, source, exitCode) => {
    expect(formatFailure(new KeyrailError('x', { kind, source, retryable: false }), plain).exitCode).toBe(exitCode)
  })

  test('tells what can be fixed with its fix', () => {
    expect(formatFailure(new CliError('no port', { hint: 'another', exitCode: 2 }), plain)).toEqual({
      lines: ['keyrail: no port', '  hint: another'],
      exitCode: 2,
    })
  })

  test('calls the unexpected by its name', () => {
    expect(formatFailure(new TypeError('oh'), plain)).toEqual({
      lines: ['keyrail: unexpected failure: oh'],
      exitCode: 1,
    })
  })
})

describe('maskKeys', () => {
  test('leaves the last four of whatever looks like a key', () => {
    const key = `kr_a${'0123456789abc'.repeat(3)}`
    expect(maskKeys(`at http://127.0.0.1/testnet/v2/${key}, and ${key}.`)).toBe(
      'at http://127.0.0.1/testnet/v2/…9abc, and …9abc.',
    )
  })

  test('leaves other text alone', () => {
    expect(maskKeys('kr_a and 0x5fbdb2315678afecb367f032d93f642f64180aa3')).toBe(
      'kr_a and 0x5fbdb2315678afecb367f032d93f642f64180aa3',
    )
  })
})
