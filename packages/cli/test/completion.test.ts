import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { getActionNames } from '../src/arguments/command.ts'
import { commands } from '../src/commandTable.ts'
import { runHere } from './runHere.ts'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 })

let folder = ''
let script = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-completion-'))
  const run = await runHere(['completion', 'bash'])
  expect(run).toMatchObject({ exitCode: 0, stderr: '' })
  script = join(folder, 'keyrail.bash')
  writeFileSync(script, run.stdout)
  writeFileSync(join(folder, 'shop.key'), '')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Completes the last of these words in bash. */
function complete(...words: readonly string[]): string[] {
  const program = [
    'source "$1"; shift',
    'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))',
    '_keyrail',
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join('\n')
  const printed = execFileSync('bash', ['-c', program, 'bash', script, ...words], { cwd: folder, encoding: 'utf8' })
  return printed.split('\n').filter((line) => line !== '')
}

describe('bash completes', () => {
  test('commands', () => {
    expect(complete('keyrail', '')).toEqual([...commands.map(({ name }) => name), 'help', '--help', '--version'])
    expect(complete('keyrail', 'do')).toEqual(['doctor'])
    expect(complete('keyrail', 'help', 'ke')).toEqual(['keys'])
  })

  test('actions and methods', () => {
    expect(complete('keyrail', 'keys', 're')).toEqual(['reveal', 'revoke'])
    expect(complete('keyrail', 'call', 'eth_getBlockByN')).toEqual(['eth_getBlockByNumber'])
    // Only the first argument is an action.
    expect(complete('keyrail', 'keys', 'show', 're')).toEqual([])
  })

  test('every option of every command', () => {
    for (const { name, options } of commands) {
      expect(complete('keyrail', name, '--')).toEqual(Object.keys(options).map((option) => `--${option}`))
    }
  })

  test('values, files and folders', () => {
    expect(complete('keyrail', 'call', 'eth_chainId', '--network', 'ethereum-m')).toEqual(['ethereum-mainnet'])
    expect(complete('keyrail', 'snippet', '--library', 'web3')).toEqual(['web3', 'web3.py'])
    expect(complete('keyrail', 'call', 'eth_chainId', '--key-file', 'sh')).toEqual(['shop.key'])
    expect(complete('keyrail', 'doctor', '--timeout', '')).toEqual([])
  })
})

test('completes exactly the existing actions', async () => {
  for (const name of ['keys', 'apps', 'users'] as const) {
    const { stderr } = await runHere([name])
    const words = getActionNames(commands.find((command) => command.name === name) ?? {})
    expect(stderr).toContain(`needs an action: ${words.join(', ')}\n`)
  }
})

test.each(['zsh', 'fish'])('%s can parse its completion script, if it is installed', async (shell) => {
  const { stdout, exitCode } = await runHere(['completion', shell])
  expect(exitCode).toBe(0)
  for (const { name, options } of commands) {
    expect(stdout).toContain(name)
    for (const option of Object.keys(options)) expect(stdout).toContain(option)
  }
  const file = join(folder, `keyrail.${shell}`)
  writeFileSync(file, stdout)
  const { error, status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' })
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return
  expect(stderr).toBe('')
  expect(status).toBe(0)
})

test('rejects any other shell', async () => {
  expect(await runHere(['completion', 'tcsh'])).toMatchObject({ exitCode: 2, stdout: '' })
})
