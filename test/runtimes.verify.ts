import { once } from 'node:events'
import { cpSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { build as buildWithVite } from 'vite'
import { openBrowser } from '@keyrail/core/test/openBrowser.ts'
import { adapters, makeAdapterProject } from './adapterProject.ts'
import { bundle } from './bundle.ts'
import { latest, startLatestBlockServer } from './latestBlockServer.ts'
import type { LatestBlockServer } from './latestBlockServer.ts'
import { getInstalled } from './getPacked.ts'
import { run } from './run.ts'
import { startRuntimeServers } from './runtimeCalls.ts'
import type { RuntimeReport, RuntimeServers } from './runtimeCalls.ts'
import { electron, nodes, runtimes } from './toolchains.ts'
import { needs, skipIfMissing } from '../scripts/externalPrograms.ts'

// Makes the calls of consumers/runtimes/runCalls.mjs with the packed SDK, in each supported runtime. All must report the same results. Jest with
// jsdom is in jest.verify.ts, React Native in reactNative.verify.ts.

let directory = ''
let servers: RuntimeServers

beforeAll(async () => {
  directory = mkdtempSync(join(getInstalled(), 'runtimes-'))
  cpSync(join(import.meta.dirname, 'consumers/runtimes'), directory, { recursive: true })
  servers = await startRuntimeServers()
})

afterAll(async () => {
  await servers.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Runs a program whose last line of output is its report, and checks the report. */
async function expectProgram(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly usedFetch: boolean },
): Promise<{ readonly stderr: string }> {
  const { cwd, usedFetch } = options
  const { code, stdout, stderr } = await run(program, args, { cwd, timeoutMs: 100_000 })
  expect(code, `${stdout}${stderr}`).toBe(0)
  servers.expectReport(JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as RuntimeReport, usedFetch)
  servers.expectNoKey(`${stdout}${stderr}`)
  return { stderr }
}

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
  test('the packed SDK makes all calls, shows no key in failures, and exits', options, async () => {
    const { stderr } = await expectProgram(program, [...args, 'program.mjs', servers.given], {
      cwd: directory,
      usedFetch,
    })
    expect(stderr).toBe('')
  })
})

test('a bundle of Vite for servers makes the same calls', async () => {
  await buildWithVite({
    root: directory,
    configFile: false,
    logLevel: 'silent',
    build: { ssr: join(directory, 'program.mjs'), outDir: join(directory, 'ssr') },
    // Without this, the bundle imports the packages.
    ssr: { noExternal: true },
  })
  const [file = ''] = globSync(join(directory, 'ssr/program.*'))
  await expectProgram(process.execPath, [file, servers.given], { cwd: directory, usedFetch: false })
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

describe('in a page from another origin than the service', () => {
  let site: { readonly url: string; readonly close: () => void }

  beforeAll(async () => {
    const [chunk] = await bundle('esbuild', join(directory, 'page.mjs'))
    const server = createServer((request, response) => {
      if (request.url === '/page.js') response.writeHead(200, { 'content-type': 'text/javascript' }).end(chunk?.code)
      else if (request.url === '/') {
        const page = '<!doctype html><title>dApp</title><script type="module" src="/page.js"></script>'
        response.writeHead(200, { 'content-type': 'text/html' }).end(page)
      } else response.writeHead(404).end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    site = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      close: () => {
        server.closeAllConnections()
        server.close()
      },
    }
  })

  afterAll(() => site.close())

  test(
    'the packed SDK makes the same calls in Chromium, in its worker and its service worker',
    needs('chromium'),
    async () => {
      const browser = await openBrowser()
      const { given } = servers
      try {
        const page = await browser.newPage()
        const problems: string[] = []
        const logged: string[] = []
        page.on('pageerror', (error) => problems.push(error.message))
        page.on('console', (message) => message.type() === 'log' && logged.push(message.text()))
        await page.goto(site.url)
        await page.waitForFunction('globalThis.runCalls !== undefined')
        const inPage = (await page.evaluate(`runCalls(${given})`)) as RuntimeReport
        servers.expectReport(inPage, true)
        const inWorker = (await page.evaluate(
          `new Promise((resolve, reject) => {
            const worker = new Worker('/page.js', { type: 'module' })
            worker.onmessage = ({ data }) => { worker.terminate(); data.report ? resolve(data.report) : reject(new Error(data.error)) }
            worker.onerror = ({ message }) => reject(new Error(message))
            worker.postMessage(${given})
          })`,
        )) as RuntimeReport
        servers.expectReport(inWorker, true)
        const inServiceWorker = (await page.evaluate(
          `new Promise((resolve, reject) => {
            const { port1, port2 } = new MessageChannel()
            port1.onmessage = ({ data }) => (data.report ? resolve(data.report) : reject(new Error(data.error)))
            navigator.serviceWorker.register('/page.js', { type: 'module' })
              .then(() => navigator.serviceWorker.ready)
              .then(({ active }) => active.postMessage(${given}, [port2]))
              .catch(reject)
          })`,
        )) as RuntimeReport
        servers.expectReport(inServiceWorker, true)
        expect(logged.length).toBeGreaterThan(0)
        servers.expectNoKey(`${logged.join('\n')}${JSON.stringify([inPage, inWorker, inServiceWorker])}`)
        expect(problems).toEqual([])
      } finally {
        await browser.close()
      }
    },
  )

  // npm's package downloads the program from elsewhere, so it is not a dependency of the workspace.
  const needsElectron = {
    skip: electron === undefined,
    meta: {
      missing: [{ name: 'Electron', fix: 'install electron, and set KEYRAIL_ELECTRON to the path of its program' }],
    },
  }
  test("the packed SDK makes the same calls in Electron's renderer", needsElectron, async () => {
    const args = ['--no-sandbox', 'startElectron.mjs', site.url, servers.given]
    await expectProgram(electron ?? '', args, { cwd: directory, usedFetch: true })
  })
})

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

  test.each(edges)('the packed SDK makes the same calls in $runtime', async ({ entry, conditions, start }) => {
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
    await expectProgram(process.execPath, [`${start}.mjs`, file, servers.given], { cwd: home, usedFetch: true })
  })
})
