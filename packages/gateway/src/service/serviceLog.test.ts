import { describe, expect, test } from 'vitest'
import { createApiKey } from '../key/apiKey.ts'
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

describe('the log', () => {
  test('is one line of JSON for each entry, time and level first', () => {
    const { log, lines } = lineLog()
    log.tell({ event: 'listening', port: 1, url: 'http://127.0.0.1:1' })
    log.tell({ event: 'upstream', network: 'testnet', upstream: 'testnet-1', state: 'unreachable' })
    log.flush()
    expect(lines).toEqual([
      '{"time":"2026-11-21T00:00:00.000Z","level":"info","event":"listening","port":1,"url":"http://127.0.0.1:1"}',
      '{"time":"2026-11-21T00:00:00.000Z","level":"warn","event":"upstream","network":"testnet","upstream":"testnet-1","state":"unreachable"}',
    ])
  })

  test('hides a secret that somebody put into it', () => {
    const { log, lines } = lineLog()
    const key = createApiKey('app')
    log.tell({
      event: 'failed',
      where: 'control',
      reason: `POST http://10.0.0.5:8545/topsecret and /testnet/v2/${key}`,
    })
    log.flush()
    expect(lines[0]).toContain('"reason":"POST [secret] and /testnet/v2/[secret]"')
  })

  test('leaves requests away where they are not wanted, and nothing else', () => {
    const { log, lines } = lineLog(false)
    log.tell({ event: 'request', requestId: '1', status: 200, durationMs: 1 })
    log.tell({ event: 'draining' })
    log.flush()
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('draining')
  })

  test('writes by itself', async () => {
    const { log, lines } = lineLog()
    log.tell({ event: 'draining' })
    await expect.poll(() => lines.length).toBe(1)
  })
})
