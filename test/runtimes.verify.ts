import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'
import { adapters, makeAdapterProject } from './adapterProject.ts'
import { bundle } from './bundle.ts'
import { latest, startLatestBlockServer } from './latestBlockServer.ts'
import type { LatestBlockServer } from './latestBlockServer.ts'
import { installed } from './packed.ts'
import { run, top } from './run.ts'
import { nodes, runtimes } from './toolchains.ts'

// The packed SDK against the real service, on each platform that it says it runs on. All must tell the same of it.

/** Where everything is to be tested, a platform that is missing is a failure. */
const mustRun = process.env['KEYRAIL_TEST_ALL'] === '1'

/** What the program of consumers/runtimes tells, but for what differs from platform to platform. */
interface Report {
  readonly wrongKey: { readonly seen: string }
  readonly nobody: { readonly seen: string }
}

interface Service {
  readonly url: string
  readonly app: { readonly apiKey: string; readonly urls: { readonly testnet: string } }
  readonly nodes: { readonly testnet: string }
}

// What a key is made of is the service's matter. This one has the look of one and is nobody's.
const wrongKey = `kr_a${randomBytes(20).toString('hex').slice(1)}`

let room = ''
let service: Service
/** The service's own nodes do not offer WebSocket. */
let node: Anvil | undefined
let chainId = ''
let given = ''
let stopService: () => Promise<void> = () => Promise.resolve()

beforeAll(async () => {
  room = mkdtempSync(join(installed(), 'runtimes-'))
  cpSync(join(import.meta.dirname, 'consumers/runtimes'), room, { recursive: true })
  ;({ service, stop: stopService } = await startService())
  node = await startAnvil()
  const nobody = await addressOfNobody()
  const baseUrl = service.app.urls.testnet.replace(/[/]v2[/].*/, '')
  given = JSON.stringify({ baseUrl, apiKey: service.app.apiKey, wrongKey, nobody, node: node.url })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
  const asked = await fetch(service.nodes.testnet, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  chainId = ((await asked.json()) as { result: string }).result
})

afterAll(async () => {
  await stopService()
  await node?.stop()
  if (room !== '') rmSync(room, { recursive: true, force: true })
})

// CI names the Node of the machine that it runs on.
const named = process.env['KEYRAIL_NODE']
const marked = <Program extends { readonly program: string | undefined }>(one: Program) => {
  const isThere = existsSync(one.program ?? '')
  return { ...one, isThere, isLeftOut: !isThere && !mustRun && (named === undefined || one.program !== named) }
}
const elsewhere = runtimes.map((one) => marked({ ...one, byFetch: true }))
const programs = [
  ...nodes.map(({ node, program }) => marked({ runtime: `Node ${node}`, program, words: [], byFetch: false })),
  ...(named === undefined ? [] : [marked({ runtime: named, program: named, words: [], byFetch: false })]),
  ...elsewhere,
]

for (const { runtime, isLeftOut } of programs) {
  if (isLeftOut) console.log(`runtimes: ${runtime} is not installed, and left out`)
}

describe.each(programs)('on $runtime', ({ runtime, program = '', words, isThere, isLeftOut, byFetch }) => {
  test.skipIf(isLeftOut)(
    'the packed SDK calls, batches, aborts, watches, subscribes, fails without its key, and ends by itself',
    async () => {
      if (!isThere) throw new Error(`${runtime} is not installed: npm run setup`)
      const { code, stdout, stderr } = await run(program, [...words, 'program.mjs', given], {
        cwd: room,
        timeoutMs: 100_000,
      })
      expect(stderr).toBe('')
      expect(code).toBe(0)
      const report = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Report
      // Node 20 has no WebSocket, and the packed SDK is installed without ws.
      const bySocket: unknown = runtime === 'Node 20' ? expect.stringContaining('Install the package ws') : true
      expectAsEverywhere(report, byFetch, bySocket)
      expectNoKey(stdout)
    },
  )
})

describe.each(adapters)('@keyrail/$folder, packed, with its library', (adapter) => {
  const { folder } = adapter
  let project = ''
  let server: LatestBlockServer

  beforeAll(async () => {
    server = await startLatestBlockServer()
    project = makeAdapterProject(adapter)
    cpSync(join(import.meta.dirname, `consumers/adapters/${folder}.mjs`), join(project, `${folder}.mjs`))
  })

  afterAll(() => {
    server.close()
    rmSync(project, { recursive: true, force: true })
  })

  for (const { runtime, program = '', words, wordsOfLibraries, isThere, isLeftOut } of elsewhere) {
    test.skipIf(isLeftOut)(`reads the latest block on ${runtime} and ends by itself`, async () => {
      if (!isThere) throw new Error(`${runtime} is not installed: npm run setup`)
      const { code, stdout, stderr } = await run(
        program,
        [...words, ...wordsOfLibraries, `${folder}.mjs`, server.url],
        { cwd: project, timeoutMs: 100_000 },
      )
      expect(code, stderr).toBe(0)
      expect(JSON.parse(stdout)).toEqual(latest)
    })
  }
})

test.skipIf(noBrowser)(
  'in a page of Chromium and in a worker of it, of another origin than the service, the packed SDK does the same',
  async () => {
    const [chunk] = await bundle('esbuild', join(room, 'page.mjs'))
    const site = createServer((request, response) => {
      if (request.url === '/page.js') response.writeHead(200, { 'content-type': 'text/javascript' }).end(chunk?.code)
      else if (request.url === '/') {
        const page = '<!doctype html><title>dApp</title><script type="module" src="/page.js"></script>'
        response.writeHead(200, { 'content-type': 'text/html' }).end(page)
      } else response.writeHead(404).end()
    })
    site.listen(0, '127.0.0.1')
    await once(site, 'listening')
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      const faults: string[] = []
      const told: string[] = []
      page.on('pageerror', (error) => faults.push(error.message))
      page.on('console', (message) => message.type() === 'log' && told.push(message.text()))
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
      await page.waitForFunction('globalThis.useKeyrail !== undefined')
      const inPage = (await page.evaluate(`useKeyrail(${given})`)) as Report
      expectAsEverywhere(inPage, true)
      const inWorker = (await page.evaluate(
        `new Promise((resolve, reject) => {
          const worker = new Worker('/page.js', { type: 'module' })
          worker.onmessage = ({ data }) => { worker.terminate(); data.report ? resolve(data.report) : reject(new Error(data.error)) }
          worker.onerror = ({ message }) => reject(new Error(message))
          worker.postMessage(${given})
        })`,
      )) as Report
      expectAsEverywhere(inWorker, true)
      expect(told.length).toBeGreaterThan(0)
      expectNoKey(`${told.join('\n')}${JSON.stringify([inPage, inWorker])}`)
      expect(faults).toEqual([])
    } finally {
      await browser.close()
      site.closeAllConnections()
      site.close()
    }
  },
)

function expectAsEverywhere(report: Report, byFetch: boolean, bySocket: unknown = true): void {
  expect(report).toEqual({
    blockOf: 'bigint',
    chainId,
    balance: '0',
    requestsOfBatch: 1,
    abortedByItsReason: true,
    watched: 3,
    watchedOneChain: true,
    wrongKey: { ours: true, kind: 'auth', seen: expect.stringContaining('KeyrailError') },
    nobody: { ours: true, kind: 'network', seen: expect.stringContaining('KeyrailError') },
    byFetch,
    bySocket,
  })
}

/** Both keys, whole or but for the mark of their kind, and what a label may show of them is no more than their end. */
function expectNoKey(text: string): void {
  for (const key of [service.app.apiKey, wrongKey]) {
    expect(text).not.toContain(key)
    expect(text).not.toContain(key.slice(4, 20))
  }
}

/** An address at which somebody listened until now. */
async function addressOfNobody(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

/** `keyrail dev`, which lets the program make blocks. */
async function startService(): Promise<{ service: Service; stop: () => Promise<void> }> {
  const node = join(top, 'node_modules/node/bin/node')
  const words = ['--conditions=@keyrail/source', 'packages/cli/src/main.ts', 'dev', '--unsafe-node-methods']
  const child = spawn(node, [...words, '--port', '0', '--json'], { cwd: top, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  let stdout = ''
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      if (stdout.includes('\n')) resolve()
    })
    child.once('exit', () => reject(new Error(`keyrail dev ended before it served: ${stderr}`)))
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  return { service: JSON.parse(stdout) as Service, stop }
}
