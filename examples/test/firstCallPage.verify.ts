import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needs } from '../../scripts/externalPrograms.ts'
import { callNode } from '../../packages/cli/src/node/callNode.ts'
import { findFences } from '../../test/findFences.ts'
import { borrowService } from './lendService.ts'
import { runExample } from './runExample.ts'
import type { Ended } from './runExample.ts'

const { service } = await borrowService()
const { url, app, nodes } = service
const top = join(import.meta.dirname, '../..')
const tabs = findFences(readFileSync(join(top, 'docs/start/first-call.md'), 'utf8')).flatMap(({ info, code }) => {
  const [language = '', ...title] = info.split(' ')
  return title.length === 0 ? [] : [{ language, title: title.join(' '), code }]
})
const programs = tabs.filter(({ language }) => language === 'js')

/** Runs a program of the page as a file in a folder where all packages are installed. */
async function run(code: string, apiKey = app.apiKey): Promise<Ended> {
  const room = mkdtempSync(join(tmpdir(), 'keyrail-first-call-'))
  onTestFinished(() => rmSync(room, { recursive: true, force: true }))
  symlinkSync(join(top, 'node_modules'), join(room, 'node_modules'))
  mkdirSync(join(room, 'page'))
  writeFileSync(join(room, 'page/first.mjs'), code)
  const environment = { KEYRAIL_BASE_URL: `${url}/testnet`, KEYRAIL_API_KEY: apiKey }
  return runExample('page/first.mjs', environment, [], room)
}

/** Expects the latest block. Other tests mine blocks concurrently, so a newer block is accepted. */
async function expectLatest(before: number, number: number, hash: string | undefined): Promise<void> {
  expect(number).toBeGreaterThanOrEqual(before)
  const block = await callNode(nodes.testnet, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
  expect(hash).toBe((block as { hash: string }).hash)
}

const readNumber = async (): Promise<number> => Number(await callNode(nodes.testnet, 'eth_blockNumber'))

test('the page has a tab for each library', () => {
  expect(tabs.map(({ title }) => title)).toEqual(['viem', 'ethers', 'web3.js', 'typed client', 'web3.py', 'curl'])
})

describe.each(programs)('the program for $title', ({ code }) => {
  test('prints the latest block, and exits', async () => {
    const before = await readNumber()
    const { exitCode, stdout, stderr } = await run(code)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const [, number, hash] = /^Block (\d+) is (\S+)\n$/.exec(stdout) ?? []
    await expectLatest(before, Number(number), hash)
  })

  test('fails with a wrong key, and does not print it', async () => {
    // A well-formed key that does not exist.
    const apiKey = app.apiKey.replace(/.{12}$/, (end) => [...end].reverse().join(''))
    const ended = await run(code, apiKey)
    expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ended.stderr).toContain('Invalid API key')
    expect(ended.stderr).not.toContain(apiKey.slice(4, 12))
  })
})

test('the curl command reads the latest block', needs('curl'), async () => {
  const before = await readNumber()
  const command = tabs.find(({ title }) => title === 'curl')?.code ?? ''
  const { stdout } = await promisify(execFile)('sh', ['-c', command], {
    env: { ...process.env, KEYRAIL_BASE_URL: `${url}/testnet`, KEYRAIL_API_KEY: app.apiKey },
  })
  const { result } = JSON.parse(stdout) as { result: { number: string; hash: string } }
  await expectLatest(before, Number(result.number), result.hash)
})
