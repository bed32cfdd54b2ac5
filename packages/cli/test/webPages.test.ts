import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findMissing, getProgram, skipIfMissing } from '../../../scripts/externalPrograms.ts'
import { getBlockHead } from '../src/node/callNode.ts'
import { browserBlockedPorts } from '../src/node/browserBlockedPorts.ts'
import { startNode } from '../src/node/startNode.ts'
import type { RunningNode } from '../src/node/startNode.ts'

// The tests read the ports of a process from /proc.
const hasProc = process.platform === 'linux'
const options = skipIfMissing([...(hasProc ? [] : [{ name: '/proc', fix: 'use Linux' }]), ...findMissing(['chromium'])])

/** Lists the IPv4 addresses and ports that a process listens on. */
function findListeners(pid: number): { host: string; port: number }[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).map((file) =>
      readlinkSync(`/proc/${pid}/fd/${file}`).replace(/^socket:\[|\]$/g, ''),
    ),
  )
  const rows = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1)
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/)
    const [address = '', port = ''] = local.split(':')
    if (state !== '0A' || !sockets.has(inode)) return []
    const host = Buffer.from(address, 'hex').reverse().join('.')
    return [{ host, port: Number.parseInt(port, 16) }]
  })
}

let folder = ''
let node: RunningNode
let browser: Browser
let evilPort = 0
const evil = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'))
/** A host name of the attacker for each of our listeners, as after DNS rebinding. */
let targets: { name: string; port: number }[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  node = await startNode({ name: 'testnet', chainId: 1952805748, folder })
  await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
  evilPort = (evil.address() as AddressInfo).port
  const shown = new URL(node.url)
  const listeners = [...findListeners(node.pid), { host: shown.hostname, port: Number(shown.port) }]
  targets = listeners.map(({ port }, index) => ({ name: `rebound${index}.example`, port }))
  const rules = listeners.map(({ host }, index) => `MAP rebound${index}.example ${host}`)
  browser = await chromium.launch({
    executablePath: getProgram('chromium'),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      `--host-resolver-rules=${[...rules, 'MAP evil.example 127.0.0.1'].join(',')}`,
    ],
  })
})
afterAll(async () => {
  await browser.close()
  evil.close()
  await node.stop()
  rmSync(folder, { recursive: true, force: true })
})

const height = async (): Promise<string> => (await getBlockHead(node.url, 'latest')).number

/** Runs in the page: tries to mine a block in every way a page can, and returns the readable responses. */
const tryToMine = async (address: string): Promise<string[]> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine', params: [] })
  const post = async (init: RequestInit): Promise<string> =>
    fetch(`http://${address}/`, { method: 'POST', body, ...init }).then(
      (response) => response.text(),
      () => '',
    )
  const overSocket = async (): Promise<string> =>
    new Promise((resolve) => {
      try {
        const socket = new WebSocket(`ws://${address}/`)
        socket.addEventListener('open', () => socket.send(body))
        socket.addEventListener('message', ({ data }) => resolve(String(data)))
        socket.addEventListener('close', () => resolve(''))
      } catch {
        resolve('')
      }
    })
  const headers = { 'content-type': 'application/json' }
  return [
    await post({ headers }),
    await post({ mode: 'no-cors' }),
    await post({ headers, mode: 'no-cors' }),
    await overSocket(),
  ].filter((text) => text.includes('"result"'))
}

test('a page of another site cannot mine a block or read a response', options, async () => {
  expect(targets.length).toBeGreaterThan(0)
  const before = await height()
  const page = await browser.newPage()
  await page.goto(`http://evil.example:${evilPort}/`)
  for (const { name, port } of targets) expect(await page.evaluate(tryToMine, `${name}:${port}`)).toEqual([])
  for (const { port } of targets) expect(await page.evaluate(tryToMine, `127.0.0.1:${port}`)).toEqual([])
  expect(await height()).toBe(before)
  await page.close()
})

test('a page after DNS rebinding cannot either, although it has the same origin', options, async () => {
  const before = await height()
  for (const { name, port } of targets) {
    const page = await browser.newPage()
    const opened = await page.goto(`http://${name}:${port}/`).then(
      () => true,
      () => false,
    )
    if (opened) expect(await page.evaluate(tryToMine, `${name}:${port}`)).toEqual([])
    await page.close()
  }
  expect(await height()).toBe(before)
})

// The standard's list is longer than Chromium's, but Chromium must block every port that we use.
test('Chromium blocks every port of the list', options, async () => {
  const page = await browser.newPage()
  for (const port of browserBlockedPorts) {
    const failure = await page.goto(`http://127.0.0.1:${port}/`).catch(String)
    expect(failure).toContain('ERR_UNSAFE_PORT')
  }
  await page.close()
})
