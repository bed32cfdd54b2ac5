import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'
import { adapters, makeAdapterProject } from './adapterProject.ts'
import { bundle } from './bundle.ts'
import { latest, startLatestBlockServer } from './latestBlockServer.ts'
import type { LatestBlockServer } from './latestBlockServer.ts'
import { getInstalled } from './getPacked.ts'
import { run, top } from './run.ts'
import { nodes, runtimes } from './toolchains.ts'
import { needs, skipIfMissing } from '../scripts/externalPrograms.ts'

// Tests the packed SDK against the real service, on each supported platform. All must report the same results.

/** The part of the report of consumers/runtimes that is the same on every platform. */
interface Report {
  readonly wrongKey: { readonly seen: string }
  readonly unreachable: { readonly seen: string }
}

interface Service {
  readonly url: string
  readonly app: { readonly apiKey: string; readonly urls: { readonly testnet: string } }
  readonly nodes: { readonly testnet: string }
}

// Looks like a key, but is unknown to the service.
const wrongKey = `kr_a${randomBytes(20).toString('hex').slice(1)}`

let directory = ''
let service: Service
/** A node with WebSocket: the service's own nodes have none. */
let node: Anvil | undefined
let chainId = ''
let given = ''
let stopService: () => Promise<void> = () => Promise.resolve()

beforeAll(async () => {
  directory = mkdtempSync(join(getInstalled(), 'runtimes-'))
  cpSync(join(import.meta.dirname, 'consumers/runtimes'), directory, { recursive: true })
  ;({ service, stop: stopService } = await startService())
  node = await startAnvil()
  const unreachable = await getUnreachableUrl()
  const baseUrl = service.app.urls.testnet.replace(/[/]v2[/].*/, '')
  given = JSON.stringify({ baseUrl, apiKey: service.app.apiKey, wrongKey, unreachable, node: node.url })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
  const response = await fetch(service.nodes.testnet, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  chainId = ((await response.json()) as { result: string }).result
})

afterAll(async () => {
  await stopService()
  await node?.stop()
  if (directory !== '') rmSync(directory, { recursive: true, force: true })
})

// CI sets this to the Node of its machine.
const named = process.env['KEYRAIL_NODE']
const withOptions = <Program extends { readonly runtime: string; readonly program: string | undefined }>(
  one: Program,
) => {
  const isThere = existsSync(one.program ?? '') || one.program === named
  return { ...one, options: skipIfMissing(isThere ? [] : [{ name: one.runtime, fix: 'npm run setup' }]) }
}
const otherRuntimes = runtimes.map((one) => withOptions({ ...one, usedFetch: true }))
const programs = [
  ...nodes.map(({ node, program }) => withOptions({ runtime: `Node ${node}`, program, args: [], usedFetch: false })),
  ...(named === undefined ? [] : [withOptions({ runtime: named, program: named, args: [], usedFetch: false })]),
  ...otherRuntimes,
]

describe.each(programs)('on $runtime', ({ program = '', args, options, usedFetch }) => {
  test(
    'the packed SDK calls, batches, aborts, watches and subscribes, shows no key in failures, and exits',
    options,
    async () => {
      const { code, stdout, stderr } = await run(program, [...args, 'program.mjs', given], {
        cwd: directory,
        timeoutMs: 100_000,
      })
      expect(stderr).toBe('')
      expect(code).toBe(0)
      const report = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Report
      expectReport(report, usedFetch)
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

  for (const { runtime, program = '', args, libraryArgs, options } of otherRuntimes) {
    test(`reads the latest block on ${runtime} and exits`, options, async () => {
      const { code, stdout, stderr } = await run(program, [...args, ...libraryArgs, `${folder}.mjs`, server.url], {
        cwd: project,
        timeoutMs: 100_000,
      })
      expect(code, stderr).toBe(0)
      expect(JSON.parse(stdout)).toEqual(latest)
    })
  }
})

test(
  'the packed SDK does the same in a page of Chromium, its worker and its service worker, from another origin than the service',
  needs('chromium'),
  async () => {
    const [chunk] = await bundle('esbuild', join(directory, 'page.mjs'))
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
      const problems: string[] = []
      const logged: string[] = []
      page.on('pageerror', (error) => problems.push(error.message))
      page.on('console', (message) => message.type() === 'log' && logged.push(message.text()))
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
      await page.waitForFunction('globalThis.useKeyrail !== undefined')
      const inPage = (await page.evaluate(`useKeyrail(${given})`)) as Report
      expectReport(inPage, true)
      const inWorker = (await page.evaluate(
        `new Promise((resolve, reject) => {
          const worker = new Worker('/page.js', { type: 'module' })
          worker.onmessage = ({ data }) => { worker.terminate(); data.report ? resolve(data.report) : reject(new Error(data.error)) }
          worker.onerror = ({ message }) => reject(new Error(message))
          worker.postMessage(${given})
        })`,
      )) as Report
      expectReport(inWorker, true)
      const inServiceWorker = (await page.evaluate(
        `new Promise((resolve, reject) => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = ({ data }) => (data.report ? resolve(data.report) : reject(new Error(data.error)))
          navigator.serviceWorker.register('/page.js', { type: 'module' })
            .then(() => navigator.serviceWorker.ready)
            .then(({ active }) => active.postMessage(${given}, [port2]))
            .catch(reject)
        })`,
      )) as Report
      expectReport(inServiceWorker, true)
      expect(logged.length).toBeGreaterThan(0)
      expectNoKey(`${logged.join('\n')}${JSON.stringify([inPage, inWorker, inServiceWorker])}`)
      expect(problems).toEqual([])
    } finally {
      await browser.close()
      site.closeAllConnections()
      site.close()
    }
  },
)

// Installed apart, as only these tests need them.
const edges = [
  { runtime: 'workerd', entry: 'worker', conditions: ['workerd', 'worker', 'browser'], start: 'startWorkerd' },
  {
    runtime: "the runtime of Next's edge functions",
    entry: 'edge',
    conditions: ['edge-light', 'browser'],
    start: 'startEdge',
  },
] as const

describe('in a runtime at the edge', () => {
  let home = ''

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'keyrail-edge-'))
    const dependencies = { miniflare: '4.20260730.0', 'edge-runtime': '4.0.1' }
    writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
    const npm = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
    const { code, stdout, stderr } = await run('npm', npm, { cwd: home, timeoutMs: 280_000 })
    expect(code, `${stdout}${stderr}`).toBe(0)
    cpSync(join(import.meta.dirname, 'consumers/runtimes'), home, { recursive: true })
  }, 300_000)

  afterAll(() => rmSync(home, { recursive: true, force: true }))

  test.each(edges)('the packed SDK does the same in $runtime', async ({ entry, conditions, start }) => {
    const { outputFiles } = await build({
      entryPoints: [join(directory, `${entry}.mjs`)],
      conditions: [...conditions],
      write: false,
      bundle: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
    })
    const file = join(home, `${entry}.js`)
    writeFileSync(file, outputFiles[0]?.text ?? '')
    const { code, stdout, stderr } = await run(process.execPath, [`${start}.mjs`, file, given], {
      cwd: home,
      timeoutMs: 100_000,
    })
    expect(code, stderr).toBe(0)
    expectReport(JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Report, true)
    expectNoKey(stdout)
  })
})

function expectReport(report: Report, usedFetch: boolean): void {
  expect(report).toEqual({
    blockNumberType: 'bigint',
    chainId,
    balance: '0',
    batchRequests: 1,
    abortedWithReason: true,
    watched: 3,
    watchedOneChain: true,
    wrongKey: { ours: true, kind: 'auth', seen: expect.stringContaining('KeyrailError') },
    unreachable: { ours: true, kind: 'network', seen: expect.stringContaining('KeyrailError') },
    usedFetch,
    usedSocket: true,
  })
}

/** Checks that a text contains neither of the keys, nor their middle part. A redacted key only shows its end. */
function expectNoKey(text: string): void {
  for (const key of [service.app.apiKey, wrongKey]) {
    expect(text).not.toContain(key)
    expect(text).not.toContain(key.slice(4, 20))
  }
}

/** Returns a URL whose server was just closed. */
async function getUnreachableUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

/** Starts `keyrail dev` with methods that mine blocks. */
async function startService(): Promise<{ service: Service; stop: () => Promise<void> }> {
  const node = join(top, 'node_modules/node/bin/node')
  const args = ['--conditions=@keyrail/source', 'packages/cli/src/main.ts', 'dev', '--unsafe-node-methods']
  const child = spawn(node, [...args, '--port', '0', '--ephemeral', '--json'], {
    cwd: top,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  let stdout = ''
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      if (stdout.includes('\n')) resolve()
    })
    child.once('exit', () => reject(new Error(`keyrail dev exited before it was ready: ${stderr}`)))
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  return { service: JSON.parse(stdout) as Service, stop }
}
