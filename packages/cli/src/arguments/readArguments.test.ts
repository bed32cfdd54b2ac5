import { describe, expect, test } from 'vitest'
import type { Command } from './command.ts'
import { readArguments } from './readArguments.ts'

const command: Command = {
  name: 'dev',
  usage: 'dev',
  about: 'A command for this test.',
  options: {
    json: { type: 'boolean', about: 'a flag' },
    port: { type: 'string', value: 'N', about: 'a value' },
  },
  rejected: { 'api-key': 'put it in a file' },
  notes: [],
  run: async () => 0,
}

describe('readArguments', () => {
  test('reads flags, values and positionals in any order', () => {
    const given = readArguments(command, ['one', '--port', '80', '--json', 'two', '--', '--three'])
    expect(given.flag('json')).toBe(true)
    expect(given.text('port')).toBe('80')
    expect(given.positionals).toEqual(['one', 'two', '--three'])
  })

  test('returns all values of a repeated option, and the last one as its text', () => {
    const given = readArguments(command, ['--port', '80', '--port=81'])
    expect([given.texts('port'), given.text('port')]).toEqual([['80', '81'], '81'])
  })

  test('returns nothing for omitted options', () => {
    const given = readArguments(command, [])
    expect([given.flag('json'), given.text('port'), given.texts('port'), given.positionals]).toEqual([
      false,
      undefined,
      [],
      [],
    ])
  })

  test.each<[string[], RegExp, RegExp]>([
    [['--prot', '1'], /^unknown option --prot for keyrail dev$/, /did you mean --port\?/],
    [['--verbose'], /^unknown option --verbose for keyrail dev$/, /^see keyrail dev --help$/],
    [['-j'], /^unknown option -j for keyrail dev$/, /--help/],
    [['-1'], /negative number/, /--params/],
    [['--api-key', 'secret-value'], /^--api-key is not accepted$/, /put it in a file/],
    [['--api-key=secret-value'], /^--api-key is not accepted$/, /put it in a file/],
  ])('rejects %j with a hint', (words, message, hint) => {
    expect(() => readArguments(command, words)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      }),
    )
  })

  test.each([[['--port']], [['--port', '--json']], [['--port=']]])('rejects %j without a value', (words) => {
    expect(() => readArguments(command, words)).toThrow('--port needs a value: --port N')
  })

  test('rejects a value for a flag', () => {
    expect(() => readArguments(command, ['--json=yes'])).toThrow('--json takes no value')
  })

  test('never repeats a value in an error', () => {
    expect(() => readArguments(command, ['--api-keys=kr_secret'])).toThrow(
      /^unknown option --api-keys for keyrail dev$/,
    )
  })
})
