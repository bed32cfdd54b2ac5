import { describe, expect, test } from 'vitest'
import { CliError } from '../cliError.ts'
import { parseParamList, parseParams } from './parseParams.ts'

const getError = (run: () => unknown): CliError => {
  try {
    run()
  } catch (error) {
    if (error instanceof CliError) return error
    throw error
  }
  throw new Error('expected an error')
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
  ])('sends %s as %j', (word, sent) => {
    expect(parseParams([word])).toEqual([sent])
  })

  test.each([
    ['12', '0xc'],
    ['0', '0x0'],
    ['255', '0xff'],
    ['18446744073709551616', '0x10000000000000000'],
  ])('converts the decimal %s to the quantity %s', (word, sent) => {
    expect(parseParams([word])).toEqual([sent])
  })

  test.each(['012', '-1', '1.5', '.5', '1e3'])('rejects %s, which is not a quantity', (word) => {
    expect(getError(() => parseParams(['latest', word]))).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/^param 2 is a number/),
    })
  })

  test.each(['{"a":', '[1,', '"open', `{fromBlock:"0x0"}`])('rejects %s instead of sending a string', (word) => {
    const error = getError(() => parseParams([word]))
    expect(error.exitCode).toBe(2)
    expect(error.hint).toContain('single quotes')
  })

  test('rejects a JSON number that would be rounded', () => {
    expect(getError(() => parseParams(['[9007199254740993]'])).message).toContain('9007199254740993')
  })
})

describe('parseParamList', () => {
  test('sends JSON numbers unchanged', () => {
    expect(parseParamList('[12, "latest", [25]]')).toEqual([12, 'latest', [25]])
  })

  test.each(['{"a":1}', '12', '"latest"', 'latest'])('rejects %s', (text) => {
    expect(getError(() => parseParamList(text)).exitCode).toBe(2)
  })
})
