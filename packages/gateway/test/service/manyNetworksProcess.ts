import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'

// A process of its own, so that only the service is on its heap. Its timers are faster than the clock, so that networks are idle soon. Sends
// `Started`, and on each message what the heap holds, in bytes.

/** The first message of the process. */
export interface Started {
  readonly url: string
  readonly prometheusPort: number
  /** How long the service needed until it listened, in milliseconds. */
  readonly startMs: number
}

const [, , nodeUrl = '', networkCount = '', timeScale = ''] = process.argv

const scale = Number(timeScale)
const { setTimeout: realSetTimeout } = globalThis
const realNow = performance.now.bind(performance)
globalThis.setTimeout = ((run: () => void, ms = 0, ...args: []) =>
  realSetTimeout(run, ms / scale, ...args)) as typeof setTimeout
performance.now = () => realNow() * scale

// Libraries take the timers when they are loaded.
const { createService, parseServiceConfig, readServerSecrets } = await import('../../src/index.ts')

const folder = mkdtempSync(join(tmpdir(), 'keyrail-networks-'))
const networks = Object.fromEntries(
  Array.from({ length: Number(networkCount) }, (_, index) => [
    `network-${index}`,
    { chain: 'testland', chainId: 1_000_000 + index, upstreams: [{ url: `${nodeUrl}/${1_000_000 + index}` }] },
  ]),
)
// The port is only known once the service listens.
const { publicUrl: _, ...config } = parseServiceConfig({
  publicUrl: 'http://localhost',
  listen: { port: 0 },
  prometheus: { port: 0 },
  signUp: 'open',
  networks,
})
const startedAt = realNow()
const service = await createService({
  config,
  secrets: readServerSecrets({ KEYRAIL_SECRET: randomBytes(32).toString('hex') }),
  storage: { file: join(folder, 'keyrail.db') },
})
const { url, prometheusPort = 0 } = await service.listen()
process.send?.({ url, prometheusPort, startMs: realNow() - startedAt } satisfies Started)

process.on('message', () => {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  process.send?.(heapUsed + external)
})
process.on('disconnect', () => {
  void service.close({ graceMs: 0 }).then(() => {
    rmSync(folder, { recursive: true, force: true })
    process.exit()
  })
})
