import { describe, expect, test } from 'vitest'
import { CliError } from '../cliError.ts'
import { parseParamList, parseParams } from './parseParams.ts'

const rejection = (run: () => unknown): CliError => {
  try {
    run()
  } catch (error) {
    if (error instanceof CliError) return error
    throw error
  }
  throw new Error('nothing was rejected')
}

describe('parseParams', () => {
  test.each<[string, unknown]>([
    ['latest', 'latest'],
    ['"latest"', 'latest'],
    ['0x5fbdb2315678afecb367f032d93f642f64180aa3', '0x5fbdb2315678afecb367f032d93f642f64180aa3'],
    ['true', true],
    ['false', false],
    ['null', null],
    ['{"fromBlock":"0x0","toBlock":"latest"}', { fromBlock: '0x0', toBlock: 'latest' }],
    ['[25,50.5]', [25, 50.5]],
    ['', ''],
    ['truely', 'truely'],
  ])('%s is sent as %j', (word, sent) => {
    expect(parseParams([word])).toEqual([sent])
  })

  test.each([
    ['12', '0xc'],
    ['0', '0x0'],
    ['255', '0xff'],
    ['18446744073709551616', '0x10000000000000000'],
  ])('the bare decimal %s becomes the quantity %s', (word, sent) => {
    expect(parseParams([word])).toEqual([sent])
  })

  test.each(['012', '-1', '1.5', '.5', '1e3'])('%s is rejected, because no quantity is written so', (word) => {
    expect(rejection(() => parseParams(['latest', word]))).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/^param 2 is a number/),
    })
  })

  test.each(['{"a":', '[1,', '"open', `{fromBlock:"0x0"}`])('%s is rejected, not sent as a string', (word) => {
    const error = rejection(() => parseParams([word]))
    expect(error.exitCode).toBe(2)
    expect(error.hint).toContain('single quotes')
  })

  test('a number inside JSON that would lose digits is rejected', () => {
    expect(rejection(() => parseParams(['[9007199254740993]'])).message).toContain('9007199254740993')
  })
})

describe('parseParamList', () => {
  test('sends numbers as they are', () => {
    expect(parseParamList('[12, "latest", [25]]')).toEqual([12, 'latest', [25]])
  })

  test.each(['{"a":1}', '12', '"latest"', 'latest'])('%s is rejected', (text) => {
    expect(rejection(() => parseParamList(text)).exitCode).toBe(2)
  })
})
