import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { callNode } from '../../packages/cli/src/node/callNode.ts'
import { findFences } from '../../test/findFences.ts'
import { borrowService } from './lendService.ts'
import { runExample } from './runExample.ts'

const { service } = await borrowService()
const top = join(import.meta.dirname, '../..')

/** Runs the program of the page, and prints how many requests it has sent. */
const countRequests = `
import { subscribe } from 'node:diagnostics_channel'

let requests = 0
subscribe('http.client.request.start', () => requests++)
await import('./contracts.ts')
console.log(requests, 'request')
`

test('the program of docs/contracts.md reads a token in one request', async () => {
  const room = mkdtempSync(join(tmpdir(), 'keyrail-contracts-page-'))
  onTestFinished(() => rmSync(room, { recursive: true, force: true }))
  symlinkSync(join(top, 'node_modules'), join(room, 'node_modules'))
  const programs = findFences(readFileSync(join(top, 'docs/contracts.md'), 'utf8')).filter(({ code }) =>
    code.includes('KEYRAIL_BASE_URL'),
  )
  expect(programs).toHaveLength(1)
  mkdirSync(join(room, 'page'))
  writeFileSync(join(room, 'page/contracts.ts'), programs[0]?.code ?? '')
  writeFileSync(join(room, 'page/all.ts'), countRequests)
  const environment = { KEYRAIL_BASE_URL: `${service.url}/testnet`, KEYRAIL_API_KEY: service.app.apiKey }
  const { exitCode, stdout, stderr } = await runExample('page/all.ts', environment, [], room)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const [owner, friend] = service.fundedAccounts
  const data = `0x70a08231${owner?.address.slice(2).padStart(64, '0')}`
  const { address } = service.tokens.testnet
  const balance = BigInt(
    (await callNode(service.nodes.testnet, 'eth_call', [{ to: address, data }, 'latest'])) as string,
  )
  expect(stdout.split('\n')).toEqual([
    `${owner?.address} ${balance / 10n ** 18n} TEST`,
    expect.stringMatching(new RegExp(`^${friend?.address} \\d+ TEST$`)),
    '1 request',
    '',
  ])
})
