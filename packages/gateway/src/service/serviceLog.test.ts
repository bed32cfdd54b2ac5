import { Writable } from 'node:stream'
import { readableRuns } from '@keyrail/core/test/secretSpellings.ts'
import { describe, expect, test } from 'vitest'
import { createApiKey } from '../lib/secrets/apiKey.ts'
import { createRedact } from './redact.ts'
import { createServiceLog } from './serviceLog.ts'

const lineLog = (requests = true) => {
  const lines: string[] = []
  const log = createServiceLog({
    write: (text) => lines.push(...text.trimEnd().split('\n')),
    redact: createRedact(['http://10.0.0.5:8545/topsecret']),
    requests: () => requests,
    now: () => Date.UTC(2026, 10, 21),
  })
  return { log, lines }
}

describe('createServiceLog', () => {
  test('writes one line of JSON per entry, starting with time and level', () => {
    const { log, lines } = lineLog()
    log.log({ event: 'listening', port: 1, url: 'http://127.0.0.1:1' })
    log.log({ event: 'upstream', network: 'testnet', upstream: 'testnet-1', state: 'unreachable' })
    log.flush()
    expect(lines).toEqual([
      '{"time":"2026-11-21T00:00:00.000Z","level":"info","event":"listening","port":1,"url":"http://127.0.0.1:1"}',
      '{"time":"2026-11-21T00:00:00.000Z","level":"warn","event":"upstream","network":"testnet","upstream":"testnet-1","state":"unreachable"}',
    ])
  })

  test('warns about metering that fails, but not about its end', () => {
    const { log, lines } = lineLog()
    log.log({ event: 'meterFailed', work: 'write', state: 'started', code: '57P01' })
    log.log({ event: 'meterLost', calls: 3 })
    log.log({ event: 'meterRowsSkipped', table: 'usage_minutes', at: 0, rows: 1 })
    log.log({ event: 'meterFailed', work: 'write', state: 'ended', failures: 2 })
    log.flush()
    const levels = lines.map((line) => (JSON.parse(line) as { level: string }).level)
    expect(levels).toEqual(['warn', 'warn', 'warn', 'info'])
  })

  test('hides a secret in an entry', () => {
    const { log, lines } = lineLog()
    const key = createApiKey('app')
    log.log({
      event: 'failed',
      where: 'control',
      reason: `POST http://10.0.0.5:8545/topsecret and /testnet/v2/${key}`,
    })
    log.flush()
    expect(lines[0]).toContain('"reason":"POST [secret] and /testnet/v2/[secret]"')
  })

  test('hides a part of a secret, and an encoded secret', () => {
    const key = 'notARealKey0123456789'
    const written: string[] = []
    const log = createServiceLog({ write: (text) => written.push(text), redact: createRedact([key]) })
    for (const text of [key.slice(0, 16), key.slice(0, -1), Buffer.from(`/v2/${key}`).toString('base64')])
      log.log({ event: 'failed', where: 'node', reason: text })
    log.log({ event: 'request', requestId: key, status: 200, durationMs: 1 })
    log.flush()
    expect(readableRuns(written.join(''), key)).toEqual([])
  })

  test('leaves out requests, and nothing else, if requests are not logged', () => {
    const { log, lines } = lineLog(false)
    log.log({ event: 'request', requestId: '1', status: 200, durationMs: 1 })
    log.log({ event: 'draining' })
    log.flush()
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('draining')
  })

  // 15.34
  test('drops and counts lines instead of buffering without bound if the reader is slow', async () => {
    const read: string[] = []
    const held: (() => void)[] = []
    const stream = new Writable({
      decodeStrings: false,
      write: (text: string, _, done) => {
        read.push(text)
        held.push(done)
      },
    })
    const log = createServiceLog({ write: stream, redact: (text) => text, maxBufferedBytes: 64 * 1024 })
    const logged = 50_000
    for (let each = 0; each < logged; each += 1)
      log.log({ event: 'request', requestId: String(each), status: 200, durationMs: 1 })
    log.flush()
    // At most one write of 200 lines beyond the bound.
    expect(stream.writableLength).toBeLessThan(2 * 64 * 1024)
    const dropped = log.dropped()
    expect(dropped).toBeGreaterThan(logged / 2)

    // The reader continues.
    const readAll = async (): Promise<void> => {
      while (held.length > 0) {
        held.shift()?.()
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await readAll()
    log.log({ event: 'draining' })
    log.flush()
    await readAll()
    const entries = read
      .join('')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; level: string; requestId?: string; lines?: number })
    expect(entries.slice(0, -2).map(({ requestId }) => requestId)).toEqual(
      Array.from({ length: logged - dropped }, (_, at) => String(at)),
    )
    expect(entries.slice(-2)).toMatchObject([
      { event: 'logDropped', level: 'warn', lines: dropped },
      { event: 'draining' },
    ])
    expect(log.dropped()).toBe(dropped)
  })

  test('reports dropped lines also if nothing more is logged', async () => {
    const written: string[] = []
    const stream = { writableLength: 1, write: (text: string) => written.push(text) }
    const log = createServiceLog({ write: stream, redact: (text) => text, maxBufferedBytes: 1 })
    log.log({ event: 'draining' })
    log.flush()
    expect([log.dropped(), written]).toEqual([1, []])
    stream.writableLength = 0
    await expect.poll(() => written.join('')).toContain('"event":"logDropped","lines":1')
    log.flush()
    expect(written).toHaveLength(1)
  })

  test('flushes on a timer', async () => {
    const { log, lines } = lineLog()
    log.log({ event: 'draining' })
    await expect.poll(() => lines.length).toBe(1)
  })
})
