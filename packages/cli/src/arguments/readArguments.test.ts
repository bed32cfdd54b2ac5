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

  test('gives every value of an option that is given several times, and the last one as its text', () => {
    const given = readArguments(command, ['--port', '80', '--port=81'])
    expect([given.texts('port'), given.text('port')]).toEqual([['80', '81'], '81'])
  })

  test('what was not given is absent', () => {
    const given = readArguments(command, [])
    expect([given.flag('json'), given.text('port'), given.texts('port'), given.positionals]).toEqual([
      false,
      undefined,
      [],
      [],
    ])
  })

  test.each<[string[], RegExp, RegExp]>([
    [['--prot', '1'], /^keyrail dev has no option --prot$/, /did you mean --port\?/],
    [['--verbose'], /^keyrail dev has no option --verbose$/, /^see keyrail dev --help$/],
    [['-j'], /^keyrail dev has no option -j$/, /--help/],
    [['-1'], /minus sign/, /--params/],
    [['--api-key', 'secret-value'], /^--api-key is not accepted$/, /put it in a file/],
    [['--api-key=secret-value'], /^--api-key is not accepted$/, /put it in a file/],
  ])('%j is rejected with the fix', (words, message, hint) => {
    expect(() => readArguments(command, words)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      }),
    )
  })

  test.each([[['--port']], [['--port', '--json']], [['--port=']]])('%j lacks a value', (words) => {
    expect(() => readArguments(command, words)).toThrow('--port needs a value: --port N')
  })

  test('a flag takes no value', () => {
    expect(() => readArguments(command, ['--json=yes'])).toThrow('--json takes no value')
  })

  test('no rejection repeats a value', () => {
    expect(() => readArguments(command, ['--api-keys=kr_secret'])).toThrow(/^keyrail dev has no option --api-keys$/)
  })
})
