import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { callNode } from '../../packages/cli/src/node/callNode.ts'
import { needsPython, setUpPython } from '../../scripts/setUpPython.ts'
import { findFences } from '../../test/findFences.ts'
import { borrowService } from './lendService.ts'

const found = await setUpPython()
const room = mkdtempSync(join(tmpdir(), 'keyrail-examples-'))
afterAll(() => rmSync(room, { recursive: true, force: true }))

/** Runs a program of an example with the Python that `npm start` uses. */
const run = async (
  folder: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(KEYRAIL_|PYTHON|PYTEST)/.test(name))
  const { stdout } = await promisify(execFile)('python' in found ? found.python : '', words, {
    cwd: join(import.meta.dirname, '..', folder),
    env: { ...Object.fromEntries(inherited), PYTHONDONTWRITEBYTECODE: '1', ...environment },
    timeout: 100_000,
  })
  return stdout
}

describe('examples in Python', needsPython(found), () => {
  test('examples/python-export-logs writes every transfer', async () => {
    const { service } = await borrowService()
    const environment = { KEYRAIL_BASE_URL: `${service.url}/testnet`, KEYRAIL_API_KEY: service.app.apiKey }
    const out = join(room, 'transfers.parquet')
    const stdout = await run('python-export-logs', ['export_logs.py', '--latest', '--out', out], environment)
    expect(stdout).toMatch(/^5 transfers in blocks 0 to \d+\nThe largest is 1000000\d*\n$/)
    expect(existsSync(`${out}.cursor`)).toBe(false)
    await expect(run('python-export-logs', ['export_logs.py', '--out', out], environment)).rejects.toThrow('exists')
  })

  test('the program for web3.py of docs/start/first-call.md prints the latest block', async () => {
    const { service } = await borrowService()
    const page = readFileSync(join(import.meta.dirname, '../../docs/start/first-call.md'), 'utf8')
    const { code = '' } = findFences(page).find(({ info }) => info.startsWith('python')) ?? {}
    const environment = { KEYRAIL_BASE_URL: `${service.url}/testnet`, KEYRAIL_API_KEY: service.app.apiKey }
    const stdout = await run('.', ['-c', code], environment)
    const [, number, hash] = /^Block (\d+) is (\S+)\n$/.exec(stdout) ?? []
    const block = await callNode(service.nodes.testnet, 'eth_getBlockByNumber', [
      `0x${Number(number).toString(16)}`,
      false,
    ])
    expect(hash).toBe((block as { hash: string }).hash)
  })

  test('examples/python-failover survives the failure of an endpoint', async () => {
    const lines = (await run('python-failover', ['failover.py'])).trimEnd().split('\n')
    expect(lines[0]).toContain('both work: 10 calls to main, 0 to spare, the circuit breaker of main is closed')
    expect(lines[1]).toMatch(/^main fails: [3-9] calls to main, 10 to spare, the circuit breaker of main is open$/)
    expect(lines[2]).toMatch(
      /^main works again: \d+ calls to main, \d+ to spare, the circuit breaker of main is closed$/,
    )
  })

  test('the tests of examples/python-pytest pass', async () => {
    expect(await run('python-pytest', ['-m', 'pytest', '-p', 'no:cacheprovider', '.'])).toContain('4 passed')
  })
})
