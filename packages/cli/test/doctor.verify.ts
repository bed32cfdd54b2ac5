import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificate } from '@keyrail/core/test/createCertificate.ts'
import { raw, startFaultServer } from '@keyrail/core/test/faultServer.ts'
import type { FaultServer, Script } from '@keyrail/core/test/faultServer.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { examine } from '../src/doctor/examine.ts'
import type { Examination, ExamineOptions } from '../src/doctor/examine.ts'
import type { CheckName, Finding } from '../src/doctor/finding.ts'
import { formatFinding } from '../src/output/doctorReport.ts'
import { plain } from '../src/output/style.ts'
import { doctorNode } from './doctorNode.ts'
import { failedRun } from './failedRun.ts'
import { runCli } from './runCli.ts'
import { runHere } from './runHere.ts'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 })

let node: FaultServer
beforeAll(async () => {
  node = await startFaultServer(doctorNode())
})
afterAll(() => node.close())

const apiKey = 'a-key-that-must-not-be-printed-0123456789'
const options: ExamineOptions = {
  chainId: undefined,
  calls: 4,
  batch: 20,
  logRange: 10_000,
  origin: undefined,
  timeoutMs: 60_000,
}

/** Checks the node, and verifies what holds for every finding. */
async function examineNode(script: Script, own: Partial<ExamineOptions> = {}): Promise<Examination> {
  node.script = script
  const reported: Finding[] = []
  const examined = await examine({ rpcUrl: node.url, apiKey }, { ...options, ...own }, async (finding) => {
    reported.push(finding)
  })
  expect(reported).toEqual(examined.findings)
  expect(JSON.stringify(examined.findings)).not.toContain('printed')
  for (const { level, fix } of examined.findings) if (level !== 'ok') expect(fix).toBeTruthy()
  return examined
}

const getFinding = ({ findings }: Examination, check: CheckName): Finding => {
  const found = findings.filter((finding) => finding.check === check)
  expect(found).toHaveLength(1)
  return found[0] as Finding
}

describe('a healthy endpoint', () => {
  const cors = {
    preflight: {
      status: 204,
      headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'content-type' },
    },
    headers: { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After, X-Request-Id' },
  }

  test('passes every check, in order', async () => {
    const { findings, noResponse } = await examineNode(doctorNode(cors), {
      chainId: 11_155_111,
      origin: 'https://app.example',
    })
    const names = ['reach', 'key', 'chain', 'head', 'latency', 'batch', 'logs', 'cors', 'limits', 'clock']
    expect(findings.map(({ check }) => check)).toEqual(names)
    // On a busy machine, a call may take a second.
    const others = findings.filter(({ check }) => check !== 'latency')
    expect(others.map(({ level }) => level)).toEqual(others.map(() => 'ok'))
    const latency = findings.find(({ check }) => check === 'latency')
    expect(latency?.facts).toMatchObject({ calls: 4, failed: 0, p50Ms: expect.any(Number), p95Ms: expect.any(Number) })
    expect(noResponse).toBe(false)
  })

  test('is called with the key, and with the origin once CORS is checked', async () => {
    node.seen.length = 0
    await examineNode(doctorNode(cors), { origin: 'https://app.example' })
    expect(new Set(node.seen.map(({ path }) => path))).toEqual(new Set([`/${apiKey}`]))
    const origins = node.seen.map(({ headers }) => headers.origin)
    expect(origins.filter((origin) => origin === undefined).length).toBeGreaterThan(5)
    expect(origins.slice(-2)).toEqual(['https://app.example', 'https://app.example'])
  })

  test('skips disabled checks', async () => {
    node.seen.length = 0
    const { findings } = await examineNode(doctorNode(), { batch: 0, logRange: 0 })
    expect(findings.map(({ check }) => check)).toEqual(['reach', 'key', 'chain', 'head', 'latency', 'limits', 'clock'])
    // The chain, the head, and the measured calls.
    expect(node.seen).toHaveLength(2 + options.calls)
  })
})

describe('a rejected key', () => {
  const rejection = (status: number, code: number, message: string, data?: object): Script =>
    raw(status, JSON.stringify({ jsonrpc: '2.0', id: '$ID', error: { code, message, data } }).replace('"$ID"', '$ID'), {
      'content-type': 'application/json',
    })

  test.each<[string, number, string, RegExp]>([
    ['key_unknown', 401, 'Invalid API key', /copy the key from the dashboard again/],
    ['key_expired', 401, 'API key has expired', /keyrail keys rotate --expires/],
    ['key_wrong_path', 401, "This is an app's key", /--base-url with an app key, and --rpc-url with an API key/],
    ['wrong_network', 403, 'API key is not enabled for testnet', /--network/],
    ['ip_not_allowed', 403, 'rejected due to app settings: IP not allowed', /allow list/],
    [
      'method_not_allowed',
      403,
      'rejected due to app settings: method eth_chainId not allowed',
      /the method to the app's/,
    ],
    ['no_upstream', 503, 'No healthy upstream for testnet', /no node of this network is healthy/],
    ['quota_exceeded', 403, 'Daily request limit of 25000 reached', /reset/],
  ])('%s has its own fix, and stops the checks', async (reason, status, message, fix) => {
    node.seen.length = 0
    const examined = await examineNode(rejection(status, status === 401 ? -32_016 : -32_002, message, { reason }))
    expect(getFinding(examined, 'key')).toMatchObject({ level: 'fail', facts: { reason } })
    expect(getFinding(examined, 'key').text).toContain(message)
    expect(getFinding(examined, 'key').fix).toMatch(fix)
    expect(examined.findings.map(({ check }) => check)).toEqual(['reach', 'key', 'limits', 'clock'])
    expect(examined.noResponse).toBe(false)
    expect(node.seen).toHaveLength(1)
  })

  test('uses the failure kind for other services', async () => {
    const examined = await examineNode(raw(401, 'Must be authenticated!'))
    expect(getFinding(examined, 'key')).toMatchObject({ level: 'fail', facts: { kind: 'auth', reason: null } })
  })

  test.each<[string, Script]>([
    ['a page', raw(200, '<html><title>Log in</title></html>', { 'content-type': 'text/html' })],
    ['an invalid number', raw(200, '{"jsonrpc":"2.0","id":$ID,"result":"Sepolia"}')],
    ['a closed connection', (_seen, _response, socket) => socket.destroy()],
  ])('%s is not a valid response', async (_what, script) => {
    const examined = await examineNode(script)
    expect(getFinding(examined, 'key').level).toBe('fail')
    expect(examined.noResponse).toBe(true)
  })
})

describe('a node with problems', () => {
  test('an unexpected chain', async () => {
    const examined = await examineNode(doctorNode(), { chainId: 1 })
    expect(getFinding(examined, 'chain')).toMatchObject({ level: 'fail', facts: { chainId: 11_155_111, expected: 1 } })
    expect(examined.noResponse).toBe(false)
  })

  test('another chain than the service announces', async () => {
    const examined = await examineNode(doctorNode({ headers: { 'x-chain-id': '1' } }))
    expect(getFinding(examined, 'chain')).toMatchObject({ level: 'fail', facts: { announced: 1 } })
  })

  test('an old head, unless on a development chain', async () => {
    const old = { ageSeconds: 3_600 }
    expect(getFinding(await examineNode(doctorNode(old)), 'head')).toMatchObject({
      level: 'warn',
      text: 'block 500000, 60 min old',
    })
    expect(getFinding(await examineNode(doctorNode({ ...old, chainId: 31_337 })), 'head').level).toBe('ok')
  })

  test('measured calls that fail', async () => {
    const examined = await examineNode(doctorNode({ without: ['eth_blockNumber'] }), { batch: 0 })
    expect(getFinding(examined, 'latency')).toMatchObject({
      level: 'fail',
      facts: { failed: 4, kind: 'methodUnavailable' },
    })
  })

  test('reports the largest accepted batch', async () => {
    const { level, text, facts } = getFinding(await examineNode(doctorNode({ maxCalls: 5 })), 'batch')
    expect({ level, facts }).toEqual({ level: 'warn', facts: { tried: 20, succeeded: 20, largest: 5 } })
    expect(text).toBe('batches of 20 calls are rejected, 5 are accepted')
  })

  test('batches are not supported', async () => {
    const examined = await examineNode(doctorNode({ maxCalls: 1 }))
    expect(getFinding(examined, 'batch')).toMatchObject({
      level: 'warn',
      text: 'batches are rejected, single calls are accepted',
    })
  })

  test('reports the largest accepted log range', async () => {
    const { level, text, facts } = getFinding(await examineNode(doctorNode({ maxBlocks: 2_500 })), 'logs')
    expect({ level, facts }).toEqual({ level: 'warn', facts: { tried: 10_000, blocks: 2_000 } })
    expect(text).toMatch(/ranges of 10,000 blocks are rejected \(.*too wide.*\), 2,000 are accepted/)
  })

  test('a chain shorter than the range', async () => {
    node.seen.length = 0
    const examined = await examineNode(doctorNode({ head: 41 }), { batch: 0 })
    expect(getFinding(examined, 'logs')).toMatchObject({ level: 'ok', facts: { tried: 42, blocks: 42 } })
    const [filter] = node.seen.find(({ json }) => json.method === 'eth_getLogs')?.json.params ?? []
    expect(filter).toMatchObject({ fromBlock: '0x0', toBlock: '0x29' })
  })

  test('does not retry smaller ranges if logs are not supported', async () => {
    node.seen.length = 0
    const examined = await examineNode(doctorNode({ without: ['eth_getLogs'] }), { batch: 0 })
    expect(getFinding(examined, 'logs')).toMatchObject({
      level: 'warn',
      facts: { blocks: 0, kind: 'methodUnavailable' },
    })
    expect(node.seen.filter(({ json }) => json.method === 'eth_getLogs')).toHaveLength(1)
  })
})

describe('CORS', () => {
  const origin = 'https://app.example'
  const allowed = {
    'access-control-allow-origin': origin,
    'access-control-allow-headers': 'Content-Type, Authorization',
  }
  const checkCors = async (script: Script): Promise<Finding> =>
    getFinding(await examineNode(script, { origin, batch: 0 }), 'cors')

  test.each<[string, Parameters<typeof doctorNode>[0], 'warn' | 'fail', string]>([
    ['no preflight', {}, 'fail', 'the preflight request returned HTTP 405'],
    [
      'another origin',
      { preflight: { status: 204, headers: { ...allowed, 'access-control-allow-origin': 'https://other.example' } } },
      'fail',
      'is not allowed',
    ],
    [
      'no content type',
      { preflight: { status: 204, headers: { 'access-control-allow-origin': '*' } } },
      'fail',
      'cannot send content-type',
    ],
    ['an unreadable response', { preflight: { status: 204, headers: allowed } }, 'fail', 'cannot read the response'],
    [
      'a response without Retry-After',
      { preflight: { status: 200, headers: allowed }, headers: { 'access-control-allow-origin': origin } },
      'warn',
      'cannot read Retry-After',
    ],
  ])('%s', async (_what, manners, level, text) => {
    const finding = await checkCors(doctorNode(manners))
    expect(finding.level).toBe(level)
    expect(finding.text).toContain(text)
  })

  test('an origin that is not on the allow list', async () => {
    const normal = doctorNode({ preflight: { status: 204, headers: allowed } })
    const finding = await checkCors((seen, response, socket) =>
      seen.headers.origin === undefined || seen.json === undefined
        ? normal(seen, response, socket)
        : raw(
            403,
            '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32002,"message":"rejected due to app settings: origin not allowed","data":{"reason":"origin_not_allowed"}}}',
          )(seen, response, socket),
    )
    expect(finding).toMatchObject({ level: 'fail', facts: { reason: 'origin_not_allowed' } })
    expect(finding.fix).toContain('allow list')
  })
})

describe('headers', () => {
  test('a nearly exhausted quota', async () => {
    const headers = {
      'x-chain-id': '11155111',
      'x-ratelimit-limit': '25',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-limit-day': '25000',
      'x-ratelimit-remaining-day': '1200',
    }
    const finding = getFinding(await examineNode(doctorNode({ headers })), 'limits')
    expect(finding).toMatchObject({ level: 'warn', text: '25 a second, 1 at once, 1,200 of 25,000 a day left' })
    const enough = { ...headers, 'x-ratelimit-remaining-day': '2500' }
    expect(getFinding(await examineNode(doctorNode({ headers: enough })), 'limits').level).toBe('ok')
  })

  test('clocks that differ', async () => {
    const checkClock = async (headers: Readonly<Record<string, string>>): Promise<Finding> =>
      getFinding(await examineNode(doctorNode({ headers }), { batch: 0, logRange: 0 }), 'clock')
    const shift = (byMs: number): Promise<Finding> => checkClock({ date: new Date(Date.now() + byMs).toUTCString() })
    expect(await shift(300_000)).toMatchObject({
      level: 'warn',
      text: expect.stringMatching(/^the server's clock is \d+ s ahead/),
    })
    expect(await shift(-300_000)).toMatchObject({ level: 'warn', text: expect.stringMatching(/s behind/) })
    // The server's own header.
    expect(await checkClock({})).toMatchObject({ level: 'ok', facts: { offsetMs: expect.any(Number) } })
  })
})

describe('an unreachable endpoint', () => {
  test('nothing listens', async () => {
    const { findings, noResponse } = await examine({ url: 'http://127.0.0.1:1/secret' }, options, async () => {})
    expect(findings).toEqual([
      expect.objectContaining({ check: 'reach', level: 'fail', text: 'cannot connect to 127.0.0.1:1 (ECONNREFUSED)' }),
    ])
    expect(noResponse).toBe(true)
  })

  test('https to an http server', async () => {
    const examined = await examine({ url: node.url.replace('http:', 'https:') }, options, async () => {})
    expect(getFinding(examined, 'tls')).toMatchObject({
      level: 'fail',
      text: expect.stringMatching(/^the TLS handshake failed/),
    })
    expect(examined.findings).toHaveLength(2)
  })

  test('an untrusted certificate, before anything is sent', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyrail-doctor-'))
    const { certFile, cert, key } = createCertificate(folder, 'localhost', ['127.0.0.1'])
    let requests = 0
    const server = createServer({ cert, key }, (_request, response) => {
      requests += 1
      response.end('not JSON')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/${apiKey}`
      const examined = await examine({ url }, options, async () => {})
      expect(getFinding(examined, 'tls')).toMatchObject({
        level: 'fail',
        facts: { certificateError: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
      })
      expect(getFinding(examined, 'tls').fix).toContain('NODE_EXTRA_CA_CERTS')
      expect(requests).toBe(0)
      // With its authority, it is trusted, but expires soon.
      const run = await runCli(['doctor', '--json', '--timeout', '60000'], {
        KEYRAIL_URL: url,
        NODE_EXTRA_CA_CERTS: certFile,
      })
      const { findings } = JSON.parse(run.stdout) as { findings: Finding[] }
      expect(findings.find(({ check }) => check === 'tls')).toMatchObject({
        level: 'warn',
        facts: { certificateError: null, days: 1 },
      })
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('keyrail doctor', () => {
  const runDoctor = (words: readonly string[], extra: Readonly<Record<string, string>> = {}) =>
    runHere(['doctor', '--base-url', node.url, '--calls', '2', ...words], { KEYRAIL_API_KEY: apiKey, ...extra })

  test('prints findings with fixes, and exits with 1 if a check fails', async () => {
    node.script = doctorNode({ maxCalls: 5 })
    const run = await runDoctor(['--chain-id', '1'])
    expect(run).toMatchObject({ exitCode: 1, stderr: '' })
    expect(run.stdout).toMatch(
      /^Keyrail doctor http:\/\/127\.0\.0\.1:\d+\/v2\/…6789\n\nok {4}reach {4}connected to 127/,
    )
    expect(run.stdout).toMatch(/^fail {2}chain {4}the chain id is 11155111, expected 1\n {15}fix: /m)
    expect(run.stdout).toMatch(/\n\n\d passed, \d warnings?, 1 failed\n$/)
    expect(run.stdout).not.toContain('printed')
  })

  test('prints one line of JSON, and exits with 3 without a response', async () => {
    node.script = (_seen, _response, socket) => socket.destroy()
    const run = await runDoctor(['--json'])
    expect(run).toMatchObject({ exitCode: 3, stderr: '' })
    expect(JSON.parse(run.stdout)).toMatchObject({
      redactedUrl: expect.stringMatching(/…6789$/),
      ok: false,
      findings: [
        { check: 'reach', level: 'ok' },
        { check: 'key', level: 'fail' },
      ],
    })
    expect(run.stdout).toMatch(/^[^\n]+\n$/)
  })
})

describe('keyrail doctor --config', () => {
  const networks = {
    testnet: { chainId: 11_155_111, upstreams: [{ url: 'http://127.0.0.1:1' }] },
    mainnet: { chainId: 1, upstreams: [{ url: 'http://127.0.0.1:1' }] },
  }
  let folder = ''
  let config = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'keyrail-doctor-'))
    config = join(folder, 'keyrail.config.json')
    writeFileSync(config, JSON.stringify({ publicUrl: 'http://127.0.0.1:8080', networks }))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  // `sepolia` is an alias of `testnet`.
  test.each([
    ['mainnet', 1],
    ['sepolia', 11_155_111],
  ])('uses the chain id of the network in the URL: %s', async (name, expected) => {
    node.script = doctorNode()
    const quick = ['--calls', '1', '--batch', '0', '--log-range', '0', '--json', '--config', config]
    const run = await runHere(['doctor', ...quick, '--base-url', `${node.url}/${name}`], { KEYRAIL_API_KEY: apiKey })
    expect(run).toMatchObject({ exitCode: expected === 11_155_111 ? 0 : 1, stderr: '' })
    const { findings } = JSON.parse(run.stdout) as { findings: Finding[] }
    expect(findings.find(({ check }) => check === 'chain')?.facts).toEqual({ chainId: 11_155_111, expected })
  })

  test.each<[string, string[], RegExp]>([
    ['--config without a network', ['--config', 'CONFIG'], /--config needs a network[\s\S]*one of testnet, mainnet/],
    ['a network that the config does not have', ['--config', 'CONFIG', '--network', 'base'], /has no network base/],
    ['two chain ids', ['--config', 'CONFIG', '--chain-id', '1'], /cannot be combined/],
    ['a missing config', ['--config', '/no/config.json', '--network', 'testnet'], /does not exist/],
    ['an invalid chain id', ['--chain-id', '0x1'], /--chain-id must be a whole number/],
    ['a page instead of its origin', ['--origin', 'https://app.example/page'], /--origin must be an origin/],
    ['an argument', ['testnet'], /takes no arguments/],
    ['too many calls', ['--calls', '100000'], /--calls must be a whole number from 1 to 1000/],
    ['a key in the arguments', ['--api-key', 'x'], /stay in the shell's history/],
  ])('rejects %s', async (_what, words, message) => {
    const given = words.map((word) => word.replace('CONFIG', config))
    const report = await failedRun(['doctor', '--base-url', node.url, ...given], { KEYRAIL_API_KEY: apiKey })
    expect(report.exitCode).toBe(2)
    expect(report.lines.join('\n')).toMatch(message)
  })
})

test('formatFinding puts the fix on a second line', () => {
  const finding: Finding = { check: 'tls', level: 'warn', text: 'it expires', fix: 'renew it' }
  expect(formatFinding(finding, plain)).toEqual(['warn  tls      it expires', '               fix: renew it'])
})
