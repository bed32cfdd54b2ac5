import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { getProgram, needs } from '../../../scripts/externalPrograms.ts'
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
  const printed = execFileSync('bash', ['-c', program, 'bash', script, ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
  })
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

  test('names of apps and keys, which keyrail list --names prints', () => {
    const names = ['Shop', 'Shop $(touch pwned)', 'Indexer']
    const program = ['#!/bin/sh', '[ "$*" = "apps list --names" ] || exit 2', ...names.map((name) => `echo '${name}'`)]
    writeFileSync(join(folder, 'keyrail'), program.join('\n'), { mode: 0o700 })
    expect(complete('keyrail', 'apps', 'rotate', 'Sh')).toEqual(['Shop', String.raw`Shop\ \$\(touch\ pwned\)`])
    expect(complete('keyrail', 'apps', 'create', '')).toEqual([])
    expect(complete('keyrail', 'keys', 'rotate', '')).toEqual([])
    expect(existsSync(join(folder, 'pwned'))).toBe(false)
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

describe.each(['zsh', 'fish'] as const)('%s', (shell) => {
  test('has the commands and options in its completion script', async () => {
    const { stdout, exitCode } = await runHere(['completion', shell])
    expect(exitCode).toBe(0)
    for (const { name, options } of commands) {
      expect(stdout).toContain(name)
      for (const option of Object.keys(options)) expect(stdout).toContain(option)
    }
  })

  test('can parse its completion script', needs(shell), async () => {
    const { stdout } = await runHere(['completion', shell])
    const file = join(folder, `keyrail.${shell}`)
    writeFileSync(file, stdout)
    const { status, stderr } = spawnSync(getProgram(shell), ['-n', file], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})

test('rejects any other shell', async () => {
  expect(await runHere(['completion', 'tcsh'])).toMatchObject({ exitCode: 2, stdout: '' })
})
