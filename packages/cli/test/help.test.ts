import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Command } from '../src/arguments/command.ts'
import { readArguments } from '../src/arguments/readArguments.ts'
import { commands } from '../src/commandTable.ts'
import { runCli } from './runCli.ts'
import { runHere } from './runHere.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

describe('keyrail', () => {
  test.each([['--help'], ['-h'], ['help']])('%s lists the commands and the exit codes', async (word) => {
    const run = await runHere([word])
    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    expect(run.stdout).toMatch(/^Local development\n {2}dev {9}Run .*\n\nCalls and data\n {2}call {8}Make /m)
    expect(run.stdout).toContain('Exit codes')
    for (const { name } of commands) expect(run.stdout).toContain(`\n  ${name} `)
  })

  test('shows the help with exit code 2 without arguments', async () => {
    expect(await runHere([])).toMatchObject({ exitCode: 2, stdout: (await runHere(['--help'])).stdout })
  })

  test.each([[['dev', '--help']], [['help', 'dev']], [['dev', '--once', '-h']]])(
    '%j describes every option',
    async (words) => {
      const run = await runHere(words)
      expect(run).toMatchObject({ exitCode: 0, stderr: '' })
      for (const option of ['--port N', '--data DIR', '--once', '--json', '--unsafe-node-methods']) {
        expect(run.stdout).toContain(`  ${option}  `)
      }
    },
  )

  test('keys --help lists the actions and examples, aligned', async () => {
    const { stdout } = await runHere(['keys', '--help'])
    expect(stdout).toMatch(/^Actions\n {2}list {14}list .*\n {2}create NAME {7}create /m)
    expect(stdout).toMatch(/^Examples\n {2}keyrail keys create /m)
  })

  test.each(commands.flatMap(({ examples = [] }) => examples))('the example %s has valid arguments', (example) => {
    // Without what the shell does: variables before the command, redirections and pipes.
    const [line = ''] = example.replace(/^\w+=\S+ /, '').split(/ [>|]/)
    const [, name, ...words] = line.match(/'[^']*'|"[^"]*"|\S+/g) ?? []
    const command = commands.find((one) => one.name === name)
    expect(command).toBeDefined()
    expect(() => readArguments(command as Command, words)).not.toThrow()
  })

  test('call --help describes how params are parsed', async () => {
    expect((await runHere(['call', '--help'])).stdout).toContain('12 is sent as "0xc"')
  })

  test('--version and -V print the version of the package', async () => {
    expect(await runCli(['--version'])).toMatchObject({ exitCode: 0, stdout: `${version}\n` })
    expect(await runHere(['-V'])).toMatchObject({ exitCode: 0, stdout: `${version}\n` })
  })

  test.each([
    ['dve', 'keyrail: unknown command dve\n  hint: did you mean dev? See keyrail --help\n'],
    ['hlep', 'keyrail: unknown command hlep\n  hint: did you mean help? See keyrail --help\n'],
    ['cal', 'keyrail: unknown command cal\n  hint: did you mean call? See keyrail --help\n'],
    ['deploy', 'keyrail: unknown command deploy\n  hint: see keyrail --help\n'],
    ['--verison', 'keyrail: unknown option --verison\n  hint: did you mean --version? See keyrail --help\n'],
  ])('rejects the unknown %s', async (word, stderr) => {
    expect(await runHere([word])).toEqual({ exitCode: 2, stdout: '', stderr })
  })

  test('the process exits with the exit code of the command, and prints the error', async () => {
    expect(await runCli(['nothing'])).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining('unknown command nothing'),
    })
  })

  test('dev suggests the nearest option', async () => {
    const run = await runHere(['dev', '--onec'])
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toContain('did you mean --once?')
  })

  test('dev takes no arguments', async () => {
    expect(await runHere(['dev', 'testnet'])).toMatchObject({ exitCode: 2, stdout: '' })
  })
})
