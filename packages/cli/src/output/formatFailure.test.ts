import { KeyrailError } from '@keyrail/core'
import type { FailureKind, FailureSource } from '@keyrail/core'
import { describe, expect, test } from 'vitest'
import { CliError } from '../cliError.ts'
import { formatFailure } from './formatFailure.ts'
import { maskKeys } from './maskKeys.ts'
import { plain } from './style.ts'

describe('formatFailure', () => {
  test('formats the kind, the message, the data and the hint, each once', () => {
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
  ])('%s from the %s exits with %i', (kind, source, exitCode) => {
    expect(formatFailure(new KeyrailError('x', { kind, source, retryable: false }), plain).exitCode).toBe(exitCode)
  })

  test('formats a CLI error with its hint', () => {
    expect(formatFailure(new CliError('no port', { hint: 'another', exitCode: 2 }), plain)).toEqual({
      lines: ['keyrail: no port', '  hint: another'],
      exitCode: 2,
    })
  })

  test('says what to check for an error of the file system, which is not unexpected', () => {
    const error = Object.assign(new Error("ENOSPC: no space left on device, open '/backups/a.db'"), {
      code: 'ENOSPC',
      syscall: 'open',
      path: '/backups/a.db',
    })
    expect(formatFailure(error, plain)).toEqual({
      lines: [
        "keyrail: ENOSPC: no space left on device, open '/backups/a.db'",
        '  hint: check the path, its permissions and the space on the disk',
      ],
      exitCode: 1,
    })
  })

  test('marks unexpected errors', () => {
    expect(formatFailure(new TypeError('oh'), plain)).toEqual({
      lines: ['keyrail: unexpected error: oh'],
      exitCode: 1,
    })
  })
})

describe('maskKeys', () => {
  test('shows only the last four characters of a key', () => {
    const key = `kr_a${'0123456789abc'.repeat(3)}`
    expect(maskKeys(`at http://127.0.0.1/testnet/v2/${key}, and ${key}.`)).toBe(
      'at http://127.0.0.1/testnet/v2/…9abc, and …9abc.',
    )
  })

  test('leaves other text unchanged', () => {
    expect(maskKeys('kr_a and 0x5fbdb2315678afecb367f032d93f642f64180aa3')).toBe(
      'kr_a and 0x5fbdb2315678afecb367f032d93f642f64180aa3',
    )
  })
})
