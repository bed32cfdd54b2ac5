import { setTimeout as wait } from 'node:timers/promises'
import { blockMs, burn, hot, toWord } from './chain.ts'

/** What ordinary callers saw. */
export interface OrdinaryResult {
  readonly calls: number
  readonly failed: number
  /** Of all calls, in milliseconds. */
  readonly p99: number
  readonly headers: number
  readonly logs: number
  /** Blocks and logs that a subscription did not deliver, and connections that closed. */
  readonly missing: readonly string[]
}

interface Notification {
  readonly id?: number
  readonly result?: string
  readonly params?: {
    readonly subscription: string
    readonly result: { readonly number?: string; readonly blockNumber?: string }
  }
}

/** Follows blocks, and one of the logs of each block. */
const followChain = async (url: string, name: string) => {
  const socket = new WebSocket(url.replace(/^http/, 'ws'))
  const seen = { headers: [] as number[], logs: [] as number[] }
  const missing: string[] = []
  let isEnding = false
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  socket.addEventListener('close', ({ code, reason }) => {
    if (!isEnding) missing.push(`${name}: closed with ${code} ${reason}`)
  })
  socket.addEventListener('message', ({ data }) => {
    const { params } = JSON.parse(String(data)) as Notification
    if (params === undefined) return
    const { number, blockNumber } = params.result
    const [list, value] = number === undefined ? [seen.logs, blockNumber] : [seen.headers, number]
    const before = list.at(-1)
    if (before !== undefined && Number(value) !== before + 1) missing.push(`${name}: ${before} to ${Number(value)}`)
    list.push(Number(value))
  })
  const filter = { address: hot, topics: [burn, toWord(3)] }
  for (const params of [['newHeads'], ['logs', filter]])
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }))
  return {
    end: () => {
      isEnding = true
      socket.close()
      return { headers: seen.headers.length, logs: seen.logs.length, missing }
    },
  }
}

/** Runs ordinary callers for some time: each makes four calls a second, and follows the chain. */
export const runOrdinary = async (urls: readonly string[], forMs: number): Promise<OrdinaryResult> => {
  const endsAt = performance.now() + forMs
  const times: number[] = []
  let failed = 0
  const followers = await Promise.all(urls.map((url, index) => followChain(url, `caller ${index}`)))
  let number = 0
  const callOften = async (url: string): Promise<void> => {
    await wait(Math.random() * 250)
    while (performance.now() < endsAt) {
      number += 1
      const address = `0x${number.toString(16).padStart(40, '0')}`
      const startedAt = performance.now()
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [address, 'latest'] })
      try {
        const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
        if (!(await response.text()).includes('"result":"0x1"')) failed += 1
      } catch {
        failed += 1
      }
      times.push(performance.now() - startedAt)
      await wait(Math.max(0, startedAt + 250 - performance.now()))
    }
  }
  await Promise.all(urls.map(callOften))
  const ends = followers.map(({ end }) => end())
  const expected = Math.floor(forMs / blockMs) - 5
  const missing = ends.flatMap((one) => one.missing)
  for (const [index, { headers, logs }] of ends.entries())
    if (headers < expected || logs < expected)
      missing.push(`caller ${index}: ${headers} blocks and ${logs} logs, not ${expected}`)
  const sorted = times.toSorted((a, b) => a - b)
  return {
    calls: times.length,
    failed,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    headers: ends.reduce((sum, { headers }) => sum + headers, 0),
    logs: ends.reduce((sum, { logs }) => sum + logs, 0),
    missing,
  }
}
