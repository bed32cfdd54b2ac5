import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createCertificate } from '@keyrail/core/test/createCertificate.ts'
import { getApiKeyUrl } from '@keyrail/gateway'
import { createKeys, startInstance } from './startInstance.ts'

// A gateway in a process of its own, for measureSockets.ts: the port of its node, and `plain` or `tls`.

/** The resources that the process has used. */
export interface SocketUsage {
  /** User and system, of all its threads. */
  readonly cpuMs: number
  /** After a garbage collection, if that was asked for. */
  readonly rssMb: number
  /** The longest time in which the event loop did not turn, since the last report. */
  readonly stallMs: number
}

const [, , nodePort = '', security = 'plain'] = process.argv
const maxConnections = 16_384
const resolutionMs = 1

const getTls = () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-sockets-'))
  const { cert, key } = createCertificate(folder, 'localhost', ['127.0.0.1'])
  rmSync(folder, { recursive: true })
  return { tls: { cert, key } }
}

const { keys, key } = createKeys()
const { url } = await startInstance({
  keys,
  upstreams: [{ url: `http://127.0.0.1:${nodePort}`, wsUrl: `ws://127.0.0.1:${nodePort}` }],
  // The clients do not respond to pings.
  webSocket: { maxConnectionsPerKey: maxConnections, maxConnectionsPerUser: maxConnections, pingMs: 3_600_000 },
  logRequests: false,
  ...(security === 'tls' ? getTls() : {}),
})
const delay = monitorEventLoopDelay({ resolution: resolutionMs })
delay.enable()
process.on('message', (message) => {
  const stallMs = Math.max(0, delay.max / 1e6 - resolutionMs)
  const { user, system } = process.cpuUsage()
  // Pages that are free are returned to the system, as V8 does when a process is idle.
  if (message === 'collect') globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  const usage: SocketUsage = {
    cpuMs: (user + system) / 1_000,
    rssMb: process.memoryUsage.rss() / 1e6,
    stallMs,
  }
  delay.reset()
  process.send?.(usage)
})
process.on('disconnect', () => process.exit())
process.send?.(getApiKeyUrl(url, 'testnet', key))
