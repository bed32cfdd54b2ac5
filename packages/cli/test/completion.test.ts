import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
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

/** What bash offers where the last of these words is being typed. */
function offered(...words: readonly string[]): string[] {
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
    expect(offered('keyrail', '')).toEqual([...commands.map(({ name }) => name), 'help', '--help', '--version'])
    expect(offered('keyrail', 'do')).toEqual(['doctor'])
    expect(offered('keyrail', 'help', 'ke')).toEqual(['keys'])
  })

  test('actions and methods', () => {
    expect(offered('keyrail', 'keys', 're')).toEqual(['reveal', 'revoke'])
    expect(offered('keyrail', 'call', 'eth_getBlockByN')).toEqual(['eth_getBlockByNumber'])
    // Its second word is no action.
    expect(offered('keyrail', 'keys', 'show', 're')).toEqual([])
  })

  test('every option of every command', () => {
    for (const { name, options } of commands) {
      expect(offered('keyrail', name, '--')).toEqual(Object.keys(options).map((option) => `--${option}`))
    }
  })

  test('what an option can be, files and folders', () => {
    expect(offered('keyrail', 'call', 'eth_chainId', '--network', 'm')).toEqual(['mainnet'])
    expect(offered('keyrail', 'snippet', '--library', 'web3')).toEqual(['web3', 'web3.py'])
    expect(offered('keyrail', 'call', 'eth_chainId', '--key-file', 'sh')).toEqual(['shop.key'])
    expect(offered('keyrail', 'doctor', '--timeout', '')).toEqual([])
  })
})

test('the actions that are completed are those that there are', async () => {
  for (const name of ['keys', 'apps', 'users'] as const) {
    const { stderr } = await runHere([name])
    const words = commands.find((command) => command.name === name)?.words ?? []
    expect(stderr).toContain(`needs one of ${words.join(', ')}\n`)
  }
})

test.each(['zsh', 'fish'])('%s can read its completion, where it is installed', async (shell) => {
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

test('another shell is named as one that there is no completion for', async () => {
  expect(await runHere(['completion', 'tcsh'])).toMatchObject({ exitCode: 2, stdout: '' })
})
