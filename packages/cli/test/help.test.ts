import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runCli } from './runCli.ts'
import { runHere } from './runHere.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

describe('keyrail', () => {
  test.each([['--help'], ['-h'], ['help']])('%s lists the commands and the exit codes', async (word) => {
    const run = await runHere([word])
    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    expect(run.stdout).toMatch(/^ {2}dev .*\n {2}call /m)
    expect(run.stdout).toContain('Exit codes')
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

  test('call --help describes how params are parsed', async () => {
    expect((await runHere(['call', '--help'])).stdout).toContain('12 is sent as "0xc"')
  })

  test('--version and -V print the version of the package', async () => {
    expect(await runCli(['--version'])).toMatchObject({ exitCode: 0, stdout: `${version}\n` })
    expect(await runHere(['-V'])).toMatchObject({ exitCode: 0, stdout: `${version}\n` })
  })

  test.each([
    ['dve', 'keyrail: unknown command dve\n  hint: did you mean dev? See keyrail --help\n'],
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
