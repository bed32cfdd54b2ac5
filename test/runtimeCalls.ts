import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import { startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { Script, Seen } from '@keyrail/core/test/faultServer.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import { top } from './run.ts'

// What the calls of consumers/runtimes/runCalls.mjs need, and what they must see, which is the same in every runtime.

/** The result of each method at the scripted server. */
const results: Readonly<Record<string, unknown>> = {
  eth_chainId: '0x1',
  eth_gasPrice: '0x7',
  web3_clientVersion: 'anvil/äöü/日本語/🦄',
}

const revertData = `0x08c379a0${'00'.repeat(31)}20`

/** The results that the calls must see; a matcher if they differ between runs. */
const createExpected = (chainId: number): Readonly<Record<string, unknown>> => ({
  'a decoded read': 'bigint',
  'the chain id': chainId,
  'calls of one tick in a batch': { chainId, balance: '0', requests: 1 },
  'a batch with a failure': [
    ['fulfilled', '0x1'],
    ['rejected', 'revert'],
  ],
  'identical reads': { prices: ['0x7', '0x7', '0x7'], requests: 1 },
  'a retry after 503': { price: '0x7', requests: 2 },
  'a wait after 429': { price: '0x7', requests: 2 },
  'a write without a response': { kind: 'unavailable', requests: 1 },
  'a deadline': 'timeout',
  'an abort': true,
  'a closed transport': 'aborted',
  'a revert': { kind: 'revert', data: revertData },
  'an unknown key': { ours: true, kind: 'auth', text: expect.stringContaining('KeyrailError') },
  'a server that cannot be reached': { ours: true, kind: 'network', text: expect.stringContaining('KeyrailError') },
  'a page in place of JSON': 'badResponse',
  'a response that is too large': 'badResponse',
  'characters divided between chunks': results['web3_clientVersion'],
  'another endpoint': '0x7',
  'a subscription by polling': true,
  'a call and a subscription over WebSocket': true,
})

/** A call that the scripted server got. */
interface Call {
  readonly id: number
  readonly method: string
}

const respond = ({ json }: Seen, response: ServerResponse, getError?: (call: Call) => object | undefined): void => {
  const toResponse = ({ id, method }: Call): object => {
    const error = getError?.({ id, method })
    return { jsonrpc: '2.0', id, ...(error ? { error } : { result: results[method] ?? null }) }
  }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(Array.isArray(json) ? json.map(toResponse) : toResponse(json)))
}

/** A server that pages of other origins may call. The first part of the path is the name of a script. */
function createScript(): Script {
  /** The times of the requests by path. Those for their number do not count. */
  const requests = new Map<string, number[]>()
  const scripts: Readonly<Record<string, (seen: Seen, response: ServerResponse, times: readonly number[]) => void>> = {
    echo: (seen, response) => respond(seen, response),
    // So that the other reads are sent before the response.
    slow: (seen, response) => void setTimeout(() => respond(seen, response), 100),
    hang: () => {},
    down: (_, response) => response.writeHead(503).end('down'),
    badGateway: (_, response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502</h1>'),
    page: (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>'),
    large: ({ json: { id } }, response) =>
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: `0x${'00'.repeat(1_000)}` })),
    revert: (seen, response) =>
      respond(seen, response, ({ method }) =>
        method === 'eth_call' ? { code: 3, message: 'execution reverted', data: revertData } : undefined,
      ),
    unavailableOnce: (seen, response, times) =>
      times.length === 1 ? response.writeHead(503).end('try again') : respond(seen, response),
    throttledOnce: (seen, response, [first = 0, second]) => {
      if (second === undefined) response.writeHead(429, { 'retry-after': '1' }).end('slow down')
      // The clocks of the two processes count milliseconds differently.
      else if (second - first < 950) respond(seen, response, () => ({ code: -32_602, message: 'too early' }))
      else respond(seen, response)
    },
    chunks: ({ json: { id, method } }, response) => {
      const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }))
      const middle = bytes.indexOf(Buffer.from('本')) + 1
      response.write(bytes.subarray(0, middle))
      setTimeout(() => response.end(bytes.subarray(middle)), 50)
    },
  }
  return (seen, response) => {
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', '*')
    response.setHeader('access-control-expose-headers', '*')
    // A preflight.
    if (seen.json === undefined) return response.writeHead(204).end()
    const times = requests.get(seen.path) ?? []
    requests.set(seen.path, times)
    if (seen.json.method === 'test_requests')
      return response.end(JSON.stringify({ jsonrpc: '2.0', id: seen.json.id, result: times.length }))
    times.push(performance.now())
    return scripts[seen.path.split('/')[1] ?? '']?.(seen, response, times)
  }
}

/** What a runtime reports. */
export interface RuntimeReport {
  readonly seen: Readonly<Record<string, unknown>>
  /** Whether the transport used the global `fetch`. */
  readonly usedFetch: boolean
}

/** The servers of the calls. */
export interface RuntimeServers {
  /** The argument of `runCalls`, as JSON. */
  readonly given: string
  /** Fails if a call saw anything else than it must see. */
  readonly expectReport: (report: RuntimeReport, usedFetch: boolean) => void
  /** Fails if a text contains a key, or the middle of a key. A redacted key only shows its end. */
  readonly expectNoKey: (text: string) => void
  readonly stop: () => Promise<void>
}

/** Starts the service, a node with WebSocket, which the nodes of the service do not have, and the scripted server. */
export async function startRuntimeServers(): Promise<RuntimeServers> {
  const [{ service, stop: stopService }, node, server] = await Promise.all([
    startService(),
    startAnvil(),
    startFaultServer(createScript()),
  ])
  const { apiKey, urls } = service.app
  // Looks like a key, but is unknown to the service.
  const wrongKey = `kr_a${randomBytes(20).toString('hex').slice(1)}`
  const expected = createExpected(Number(await getChainId(service.nodes.testnet)))
  return {
    given: JSON.stringify({
      baseUrl: urls.testnet.replace(/[/]v2[/].*/, ''),
      apiKey,
      wrongKey,
      unreachable: await getUnreachableUrl(),
      node: node.url,
      server: server.url,
    }),
    expectReport: (report, usedFetch) => expect(report).toEqual({ seen: expected, usedFetch }),
    expectNoKey: (text) => {
      for (const key of [apiKey, wrongKey]) {
        expect(text).not.toContain(key)
        expect(text).not.toContain(key.slice(4, 20))
      }
    },
    stop: async () => {
      await Promise.all([stopService(), node.stop(), server.close()])
    },
  }
}

interface Service {
  readonly app: { readonly apiKey: string; readonly urls: { readonly testnet: string } }
  readonly nodes: { readonly testnet: string }
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

async function getChainId(url: string): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await response.json()) as { result: string }).result
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
