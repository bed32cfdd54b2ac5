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
import type { Examined, ExamineOptions } from '../src/doctor/examine.ts'
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

/** Examines the node with such manners, and holds it to what is true of every finding. */
async function examineNode(script: Script, own: Partial<ExamineOptions> = {}): Promise<Examined> {
  node.script = script
  const told: Finding[] = []
  const examined = await examine({ rpcUrl: node.url, apiKey }, { ...options, ...own }, async (finding) => {
    told.push(finding)
  })
  expect(told).toEqual(examined.findings)
  expect(JSON.stringify(examined.findings)).not.toContain('printed')
  for (const { level, fix } of examined.findings) if (level !== 'ok') expect(fix).toBeTruthy()
  return examined
}

const of = ({ findings }: Examined, check: CheckName): Finding => {
  const found = findings.filter((finding) => finding.check === check)
  expect(found).toHaveLength(1)
  return found[0] as Finding
}

describe('an address that is as it should be', () => {
  const cors = {
    preflight: {
      status: 204,
      headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'content-type' },
    },
    headers: { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After, X-Request-Id' },
  }

  test('is found so by every check, in the order of its path', async () => {
    const { findings, unanswered } = await examineNode(doctorNode(cors), {
      chainId: 11_155_111,
      origin: 'https://app.example',
    })
    const names = ['reach', 'key', 'chain', 'head', 'latency', 'batch', 'logs', 'cors', 'limits', 'clock']
    expect(findings.map(({ check }) => check)).toEqual(names)
    // On a machine that has other things to do a call may well take a second.
    const others = findings.filter(({ check }) => check !== 'latency')
    expect(others.map(({ level }) => level)).toEqual(others.map(() => 'ok'))
    const latency = findings.find(({ check }) => check === 'latency')
    expect(latency?.facts).toMatchObject({ calls: 4, failed: 0, p50Ms: expect.any(Number), p95Ms: expect.any(Number) })
    expect(unanswered).toBe(false)
  })

  test('is asked by the key, and from the page once pages are looked at', async () => {
    node.seen.length = 0
    await examineNode(doctorNode(cors), { origin: 'https://app.example' })
    expect(new Set(node.seen.map(({ path }) => path))).toEqual(new Set([`/${apiKey}`]))
    const origins = node.seen.map(({ headers }) => headers.origin)
    expect(origins.filter((origin) => origin === undefined).length).toBeGreaterThan(5)
    expect(origins.slice(-2)).toEqual(['https://app.example', 'https://app.example'])
  })

  test('what is not asked for is not asked', async () => {
    node.seen.length = 0
    const { findings } = await examineNode(doctorNode(), { batch: 0, logRange: 0 })
    expect(findings.map(({ check }) => check)).toEqual(['reach', 'key', 'chain', 'head', 'latency', 'limits', 'clock'])
    // The chain, the head, and the calls that are measured.
    expect(node.seen).toHaveLength(2 + options.calls)
  })
})

describe('a key that is rejected', () => {
  const rejection = (status: number, code: number, message: string, data?: object): Script =>
    raw(status, JSON.stringify({ jsonrpc: '2.0', id: '$ID', error: { code, message, data } }).replace('"$ID"', '$ID'), {
      'content-type': 'application/json',
    })

  test.each<[string, number, string, RegExp]>([
    ['key_unknown', 401, 'Invalid API key', /copy the key anew/],
    ['key_expired', 401, 'API key has expired', /keyrail keys rotate --expires/],
    ['key_wrong_path', 401, "This is an app's key", /--base-url, an API key with --rpc-url/],
    ['wrong_network', 403, 'API key is not enabled for testnet', /--network/],
    ['ip_not_allowed', 403, 'rejected due to app settings: IP not allowed', /allow list/],
    ['quota_exceeded', 403, 'Daily request limit of 25000 reached', /reset/],
  ])('%s has a fix of its own, and no more is asked', async (reason, status, message, fix) => {
    node.seen.length = 0
    const examined = await examineNode(rejection(status, status === 401 ? -32_016 : -32_002, message, { reason }))
    expect(of(examined, 'key')).toMatchObject({ level: 'fail', facts: { reason } })
    expect(of(examined, 'key').text).toContain(message)
    expect(of(examined, 'key').fix).toMatch(fix)
    expect(examined.findings.map(({ check }) => check)).toEqual(['reach', 'key', 'limits', 'clock'])
    expect(examined.unanswered).toBe(false)
    expect(node.seen).toHaveLength(1)
  })

  test('by a service of others goes by its kind', async () => {
    const examined = await examineNode(raw(401, 'Must be authenticated!'))
    expect(of(examined, 'key')).toMatchObject({ level: 'fail', facts: { kind: 'auth', reason: null } })
  })

  test.each<[string, Script]>([
    ['a page', raw(200, '<html><title>Log in</title></html>', { 'content-type': 'text/html' })],
    ['a number that is none', raw(200, '{"jsonrpc":"2.0","id":$ID,"result":"Sepolia"}')],
    ['a hung-up connection', (_seen, _response, socket) => socket.destroy()],
  ])('%s is no answer', async (_what, script) => {
    const examined = await examineNode(script)
    expect(of(examined, 'key').level).toBe('fail')
    expect(examined.unanswered).toBe(true)
  })
})

describe('a node that is not as it should be', () => {
  test('another chain than the one that is meant', async () => {
    const examined = await examineNode(doctorNode(), { chainId: 1 })
    expect(of(examined, 'chain')).toMatchObject({ level: 'fail', facts: { chainId: 11_155_111, expected: 1 } })
    expect(examined.unanswered).toBe(false)
  })

  test('another chain than the service in front of it says', async () => {
    const examined = await examineNode(doctorNode({ headers: { 'x-chain-id': '1' } }))
    expect(of(examined, 'chain')).toMatchObject({ level: 'fail', facts: { announced: 1 } })
  })

  test('a head that is old, unless on a chain for development', async () => {
    const old = { ageS: 3_600 }
    expect(of(await examineNode(doctorNode(old)), 'head')).toMatchObject({
      level: 'warn',
      text: 'block 500000, 60 min old',
    })
    expect(of(await examineNode(doctorNode({ ...old, chainId: 31_337 })), 'head').level).toBe('ok')
  })

  test('calls that fail among those that are measured', async () => {
    const examined = await examineNode(doctorNode({ without: ['eth_blockNumber'] }), { batch: 0 })
    expect(of(examined, 'latency')).toMatchObject({ level: 'fail', facts: { failed: 4, kind: 'methodUnavailable' } })
  })

  test('the largest batch that is answered is named', async () => {
    const { level, text, facts } = of(await examineNode(doctorNode({ mostCalls: 5 })), 'batch')
    expect({ level, facts }).toEqual({ level: 'warn', facts: { tried: 20, answered: 20, largest: 5 } })
    expect(text).toBe('20 calls in one request are rejected, 5 answered')
  })

  test('batches that are not taken at all', async () => {
    const examined = await examineNode(doctorNode({ mostCalls: 1 }))
    expect(of(examined, 'batch')).toMatchObject({ level: 'warn', text: 'batches are rejected, single calls answered' })
  })

  test('the widest range of logs that is answered is named', async () => {
    const { level, text, facts } = of(await examineNode(doctorNode({ mostBlocks: 2_500 })), 'logs')
    expect({ level, facts }).toEqual({ level: 'warn', facts: { tried: 10_000, blocks: 2_000 } })
    expect(text).toMatch(/10,000 blocks at once are rejected \(.*too wide.*\), 2,000 answered/)
  })

  test('a chain that is shorter than the range is asked for whole', async () => {
    node.seen.length = 0
    const examined = await examineNode(doctorNode({ head: 41 }), { batch: 0 })
    expect(of(examined, 'logs')).toMatchObject({ level: 'ok', facts: { tried: 42, blocks: 42 } })
    const [filter] = node.seen.find(({ json }) => json.method === 'eth_getLogs')?.json.params ?? []
    expect(filter).toMatchObject({ fromBlock: '0x0', toBlock: '0x29' })
  })

  test('no logs at all are not asked for again and again', async () => {
    node.seen.length = 0
    const examined = await examineNode(doctorNode({ without: ['eth_getLogs'] }), { batch: 0 })
    expect(of(examined, 'logs')).toMatchObject({ level: 'warn', facts: { blocks: 0, kind: 'methodUnavailable' } })
    expect(node.seen.filter(({ json }) => json.method === 'eth_getLogs')).toHaveLength(1)
  })
})

describe('what a page meets', () => {
  const origin = 'https://app.example'
  const letIn = { 'access-control-allow-origin': origin, 'access-control-allow-headers': 'Content-Type, Authorization' }
  const corsOf = async (script: Script): Promise<Finding> => of(await examineNode(script, { origin, batch: 0 }), 'cors')

  test.each<[string, Parameters<typeof doctorNode>[0], 'warn' | 'fail', string]>([
    ['no preflight', {}, 'fail', 'a preflight is answered by HTTP 405'],
    [
      'another origin',
      { preflight: { status: 204, headers: { ...letIn, 'access-control-allow-origin': 'https://other.example' } } },
      'fail',
      'are not let in',
    ],
    [
      'no content type',
      { preflight: { status: 204, headers: { 'access-control-allow-origin': '*' } } },
      'fail',
      'may not send content-type',
    ],
    ['an answer that it may not read', { preflight: { status: 204, headers: letIn } }, 'fail', 'may not be read'],
    [
      'an answer without Retry-After',
      { preflight: { status: 200, headers: letIn }, headers: { 'access-control-allow-origin': origin } },
      'warn',
      'cannot see Retry-After',
    ],
  ])('%s', async (_what, manners, level, text) => {
    const finding = await corsOf(doctorNode(manners))
    expect(finding.level).toBe(level)
    expect(finding.text).toContain(text)
  })

  test('an origin that the allow list does not have', async () => {
    const good = doctorNode({ preflight: { status: 204, headers: letIn } })
    const finding = await corsOf((seen, response, socket) =>
      seen.headers.origin === undefined || seen.json === undefined
        ? good(seen, response, socket)
        : raw(
            403,
            '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32002,"message":"rejected due to app settings: origin not allowed","data":{"reason":"origin_not_allowed"}}}',
          )(seen, response, socket),
    )
    expect(finding).toMatchObject({ level: 'fail', facts: { reason: 'origin_not_allowed' } })
    expect(finding.fix).toContain('allow list')
  })
})

describe('what the headers say', () => {
  test('a quota that is nearly used up', async () => {
    const headers = {
      'x-chain-id': '11155111',
      'x-ratelimit-limit': '25',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-limit-day': '25000',
      'x-ratelimit-remaining-day': '1200',
    }
    const finding = of(await examineNode(doctorNode({ headers })), 'limits')
    expect(finding).toMatchObject({ level: 'warn', text: '25 a second, 1 at once, 1,200 of 25,000 a day left' })
    const enough = { ...headers, 'x-ratelimit-remaining-day': '2500' }
    expect(of(await examineNode(doctorNode({ headers: enough })), 'limits').level).toBe('ok')
  })

  test('a clock that is apart, either way', async () => {
    const clockBy = async (headers: Readonly<Record<string, string>>): Promise<Finding> =>
      of(await examineNode(doctorNode({ headers }), { batch: 0, logRange: 0 }), 'clock')
    const apart = (byMs: number): Promise<Finding> => clockBy({ date: new Date(Date.now() + byMs).toUTCString() })
    expect(await apart(300_000)).toMatchObject({
      level: 'warn',
      text: expect.stringMatching(/^it is \d+ s later there/),
    })
    expect(await apart(-300_000)).toMatchObject({ level: 'warn', text: expect.stringMatching(/s earlier there/) })
    // Its own, of the moment that it answers.
    expect(await clockBy({})).toMatchObject({ level: 'ok', facts: { offsetMs: expect.any(Number) } })
  })
})

describe('an address that is not reached', () => {
  test('nothing listens', async () => {
    const { findings, unanswered } = await examine({ url: 'http://127.0.0.1:1/secret' }, options, async () => {})
    expect(findings).toEqual([
      expect.objectContaining({ check: 'reach', level: 'fail', text: '127.0.0.1:1 cannot be reached (ECONNREFUSED)' }),
    ])
    expect(unanswered).toBe(true)
  })

  test('https to what speaks http', async () => {
    const examined = await examine({ url: node.url.replace('http:', 'https:') }, options, async () => {})
    expect(of(examined, 'tls')).toMatchObject({ level: 'fail', text: expect.stringMatching(/^no TLS is spoken there/) })
    expect(examined.findings).toHaveLength(2)
  })

  test('a certificate that nobody vouches for is told before anything is sent', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keyrail-doctor-'))
    const { certFile, cert, key } = createCertificate(folder, 'localhost', 'IP:127.0.0.1')
    let requests = 0
    const server = createServer({ cert, key }, (_request, response) => {
      requests += 1
      response.end('not JSON')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/${apiKey}`
      const examined = await examine({ url }, options, async () => {})
      expect(of(examined, 'tls')).toMatchObject({ level: 'fail', facts: { distrust: 'DEPTH_ZERO_SELF_SIGNED_CERT' } })
      expect(of(examined, 'tls').fix).toContain('NODE_EXTRA_CA_CERTS')
      expect(requests).toBe(0)
      // Vouched for, it is trusted, and told to end soon.
      const run = await runCli(['doctor', '--json', '--timeout', '60000'], {
        KEYRAIL_URL: url,
        NODE_EXTRA_CA_CERTS: certFile,
      })
      const { findings } = JSON.parse(run.stdout) as { findings: Finding[] }
      expect(findings.find(({ check }) => check === 'tls')).toMatchObject({
        level: 'warn',
        facts: { distrust: null, days: 1 },
      })
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('keyrail doctor', () => {
  const examined = (words: readonly string[], extra: Readonly<Record<string, string>> = {}) =>
    runHere(['doctor', '--base-url', node.url, '--calls', '2', ...words], { KEYRAIL_API_KEY: apiKey, ...extra })

  test('says what it finds, with fixes, and ends with 1 where something fails', async () => {
    node.script = doctorNode({ mostCalls: 5 })
    const run = await examined(['--chain-id', '1'])
    expect(run).toMatchObject({ exitCode: 1, stderr: '' })
    expect(run.stdout).toMatch(/^Keyrail doctor http:\/\/127\.0\.0\.1:\d+\/v2\/…6789\n\nok {4}reach {4}127/)
    expect(run.stdout).toMatch(/^fail {2}chain {4}the chain id is 11155111, and should be 1\n {15}fix: /m)
    expect(run.stdout).toMatch(/\n\n\d passed, \d to look at, 1 to fix\n$/)
    expect(run.stdout).not.toContain('printed')
  })

  test('is one line of JSON, and ends with 3 where nobody answers', async () => {
    node.script = (_seen, _response, socket) => socket.destroy()
    const run = await examined(['--json'])
    expect(run).toMatchObject({ exitCode: 3, stderr: '' })
    expect(JSON.parse(run.stdout)).toMatchObject({
      address: expect.stringMatching(/…6789$/),
      ok: false,
      findings: [
        { check: 'reach', level: 'ok' },
        { check: 'key', level: 'fail' },
      ],
    })
    expect(run.stdout).toMatch(/^[^\n]+\n$/)
  })
})

describe('keyrail doctor, by the config of a service', () => {
  const networks = {
    testnet: { chainId: 11_155_111, upstreams: [{ url: 'http://127.0.0.1:1' }] },
    mainnet: { chainId: 1, upstreams: [{ url: 'http://127.0.0.1:1' }] },
  }
  let folder = ''
  let config = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'keyrail-doctor-'))
    config = join(folder, 'keyrail.config.json')
    const chain = { name: 'Example', symbol: 'EX' }
    writeFileSync(config, JSON.stringify({ publicUrl: 'http://127.0.0.1:8080', chain, networks }))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('the chain id is that of the network in the address', async () => {
    node.script = doctorNode()
    const quick = ['--calls', '1', '--batch', '0', '--log-range', '0', '--json', '--config', config]
    const run = await runHere(['doctor', ...quick, '--base-url', `${node.url}/mainnet`], { KEYRAIL_API_KEY: apiKey })
    expect(run).toMatchObject({ exitCode: 1, stderr: '' })
    const { findings } = JSON.parse(run.stdout) as { findings: Finding[] }
    expect(findings.find(({ check }) => check === 'chain')?.facts).toEqual({ chainId: 11_155_111, expected: 1 })
  })

  test.each<[string, string[], RegExp]>([
    ['a network that nobody names', ['--config', 'CONFIG'], /--config has a chain id for each network/],
    ['two chain ids', ['--config', 'CONFIG', '--chain-id', '1'], /exclude each other/],
    ['no config', ['--config', '/no/config.json', '--network', 'testnet'], /is not there/],
    ['a chain id that is none', ['--chain-id', '0x1'], /--chain-id must be a whole number/],
    ['a page in place of its origin', ['--origin', 'https://app.example/page'], /--origin is no origin/],
    ['another word', ['testnet'], /takes options only/],
    ['too many calls', ['--calls', '100000'], /--calls must be a whole number from 1 to 1000/],
    ['a key in the arguments', ['--api-key', 'x'], /stays in the history/],
  ])('%s', async (_what, words, message) => {
    const given = words.map((word) => word.replace('CONFIG', config))
    const report = await failedRun(['doctor', '--base-url', node.url, ...given], { KEYRAIL_API_KEY: apiKey })
    expect(report.exitCode).toBe(2)
    expect(report.lines.join('\n')).toMatch(message)
  })
})

test('a fix stands below what it is for', () => {
  const finding: Finding = { check: 'tls', level: 'warn', text: 'it ends', fix: 'renew it' }
  expect(formatFinding(finding, plain)).toEqual(['warn  tls      it ends', '               fix: renew it'])
})
