import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { getBlockHead } from '../src/node/callNode.ts'
import { exampleToken } from '../src/node/exampleToken.ts'
import { fundedAccounts } from '../src/node/fundedAccounts.ts'
import { readCommandLine, startCli, startDevCli, until } from './runCli.ts'
import type { CliRun, RunningDev } from './runCli.ts'
import { runHere } from './runHere.ts'

// Each test starts a service, possibly on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

let folder = ''
let dev: RunningDev
let keyFile = ''
let testnet = ''
let muteUrl = ''
let received = 0
const muteServer = createServer(() => (received += 1))

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  dev = await startDevCli(['--data', join(folder, 'data')])
  keyFile = join(folder, 'data', 'keys', 'app')
  testnet = `${dev.service.url}/testnet`
  await new Promise<void>((resolve) => muteServer.listen(0, '127.0.0.1', resolve))
  muteUrl = `http://127.0.0.1:${(muteServer.address() as AddressInfo).port}`
})
afterAll(async () => {
  dev.child.kill('SIGTERM')
  await dev.done
  muteServer.closeAllConnections()
  muteServer.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a call and checks that it prints no part of a key's secret. */
const call = async (words: readonly string[], extra: Readonly<Record<string, string>> = {}): Promise<CliRun> => {
  const run = await runHere(['call', ...words], extra)
  const { app, keys } = dev.service
  for (const key of [app.apiKey, keys.testnet.apiKey, keys.mainnet.apiKey]) {
    for (let at = 4; at + 8 <= key.length; at++) expect(run.stdout + run.stderr).not.toContain(key.slice(at, at + 8))
  }
  return run
}
const appCall = (...words: readonly string[]): Promise<CliRun> =>
  call([...words, '--base-url', testnet, '--key-file', keyFile])

describe('keyrail call (exit code 0)', () => {
  test('prints the result as indented JSON, or on one line with --json', async () => {
    const own = await getBlockHead(dev.service.nodes.testnet, '0x3')
    const run = await appCall('eth_getBlockByNumber', '3', 'false')
    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    expect(JSON.parse(run.stdout)).toMatchObject(own)
    expect(run.stdout.split('\n')[1]).toMatch(/^ {2}"/)
    const compact = await appCall('eth_getBlockByNumber', '3', 'false', '--json')
    expect(compact.stdout.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(compact.stdout)).toEqual(JSON.parse(run.stdout))
  })

  test('sends JSON, tags, hex and decimals correctly', async () => {
    const logs = JSON.parse(
      (await appCall('eth_getLogs', '{"fromBlock":"0x0","toBlock":"latest"}')).stdout,
    ) as unknown[]
    expect(logs.length).toBeGreaterThanOrEqual(5)
    const balance = await appCall('eth_getBalance', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8', '1')
    // 10,000 ether in the genesis block, and 1 in block 1.
    expect(BigInt(JSON.parse(balance.stdout) as string)).toBe(10_001n * 10n ** 18n)
    const history = await appCall('eth_feeHistory', '2', 'latest', '[25, 75]')
    expect((JSON.parse(history.stdout) as { reward: unknown[] }).reward).toHaveLength(2)
  })

  test('prints a result of null', async () => {
    expect(await appCall('eth_getTransactionByHash', `0x${'00'.repeat(32)}`)).toMatchObject({
      exitCode: 0,
      stdout: 'null\n',
    })
  })

  test('reads the key from the environment, for an app and for an API key', async () => {
    const { app, keys } = dev.service
    const words = ['eth_blockNumber', '--network', 'mainnet']
    const own = JSON.stringify((await getBlockHead(dev.service.nodes.mainnet, 'latest')).number)
    const withNetwork = `${dev.service.url}/{network}`
    expect((await call([...words, '--base-url', withNetwork], { KEYRAIL_API_KEY: app.apiKey })).stdout).toBe(`${own}\n`)
    const key = { KEYRAIL_API_KEY: keys.mainnet.apiKey }
    expect((await call([...words, '--rpc-url', withNetwork], key)).stdout).toBe(`${own}\n`)
  })

  test('accepts a full URL in KEYRAIL_URL, and in --url with a warning', async () => {
    const { url } = dev.service.keys.testnet
    const quiet = await call(['eth_chainId'], { KEYRAIL_URL: url })
    expect(quiet).toMatchObject({ exitCode: 0, stdout: '"0x74657374"\n', stderr: '' })
    const warned = await call(['eth_chainId', '--url', url])
    expect(warned).toMatchObject({ exitCode: 0, stdout: '"0x74657374"\n' })
    expect(warned.stderr).toContain("--url leaves the key in the shell's history")
  })

  test('options take precedence over the environment', async () => {
    const run = await call(['eth_chainId', '--url', dev.service.nodes.mainnet], {
      KEYRAIL_URL: dev.service.keys.testnet.url,
    })
    expect(run).toMatchObject({ exitCode: 0, stdout: '"0x6d61696e"\n', stderr: '' })
  })
})

describe('keyrail call ADDRESS SIGNATURE', () => {
  const { address: token } = exampleToken
  const [creator, poor] = [fundedAccounts[0]?.address ?? '', fundedAccounts[9]?.address ?? '']

  test.each([
    ['name()(string)', [], 'Test Token\n'],
    ['function decimals() view returns (uint8)', [], '18\n'],
    ['balanceOf(address)(uint256)', [poor], '0\n'],
    ['totalSupply()(uint256)', [], `${10n ** 24n}\n`],
  ])('prints the results of %s', async (signature, args, stdout) => {
    expect(await appCall(token, signature, ...args)).toEqual({ exitCode: 0, stdout, stderr: '' })
  })

  test('says how to decode a result that it prints as hex', async () => {
    const run = await appCall(token, 'totalSupply()')
    expect(run).toMatchObject({ exitCode: 0, stdout: `0x${(10n ** 24n).toString(16).padStart(64, '0')}\n` })
    expect(run.stderr).toContain('add its types to the signature')
    expect(await appCall(token, 'totalSupply()', '--json')).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('prints JSON with --json, and reads at --block', async () => {
    const balance = ['balanceOf(address)(uint256)', creator, '--json'] as const
    const [before, after] = [await appCall(token, ...balance, '--block', '2'), await appCall(token, ...balance)]
    expect(JSON.parse(before.stdout)).toBe(`${10n ** 24n}`)
    expect(BigInt(JSON.parse(after.stdout) as string)).toBeLessThan(10n ** 24n)
  })

  test('--raw prints the response as received, with exit code 1 if it is an error', async () => {
    const raw = await appCall(token, 'decimals()(uint8)', '--raw')
    expect(raw).toMatchObject({ exitCode: 0, stderr: '' })
    expect(JSON.parse(raw.stdout)).toMatchObject({ jsonrpc: '2.0', result: `0x${'12'.padStart(64, '0')}` })
    const reverted = await appCall(token, 'transfer(address,uint256)(bool)', creator, '1', '--raw')
    expect(reverted).toMatchObject({ exitCode: 1, stderr: '' })
    expect(JSON.parse(reverted.stdout)).toMatchObject({ jsonrpc: '2.0', error: { code: 3 } })
    const unreachable = await call(['eth_chainId', '--raw', '--url', 'http://127.0.0.1:1'])
    expect(unreachable).toMatchObject({ exitCode: 3, stdout: '', stderr: expect.stringContaining('network: ') })
  })

  test.each<[string[], number, string]>([
    [[token], 2, 'a contract call needs the signature'],
    [[token, 'balanceOf'], 2, 'the signature cannot be parsed'],
    [[token, 'balanceOf(adress)'], 2, 'the signature has an unknown type: adress'],
    [[token, 'balanceOf(address)'], 2, 'balanceOf(address) takes 1 argument, not 0'],
    [[token, 'balanceOf(address)', '0x12'], 2, 'argument 1 is not a valid address'],
    [[token, 'balanceOf(address)', creator, '--params', '[]'], 2, '--params is for JSON-RPC methods'],
    [['eth_chainId', '--block', '1'], 2, '--block is for contract calls'],
    [[token, 'name()(bool)'], 1, 'the result is not (bool): it has an invalid bool'],
    [[poor, 'name()(string)'], 1, `${poor} returned no data for name()`],
  ])('rejects %j', async (words, exitCode, message) => {
    const run = await appCall(...words)
    expect(run).toMatchObject({ exitCode, stdout: '' })
    expect(run.stderr).toContain(message)
  })
})

describe('a failure with --json', () => {
  test('is one line of JSON on standard error', async () => {
    const run = await appCall('eth_getBalance', '0x12', 'latest', '--json')
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(JSON.parse(run.stderr)).toEqual({
      error: {
        kind: 'invalidRequest',
        message: expect.stringContaining('eth_getBalance'),
        hint: expect.any(String),
        retryAfterMs: null,
        rpcError: expect.objectContaining({ code: -32602 }),
        exitCode: 1,
      },
    })
  })

  test('of invalid usage has no kind', async () => {
    const run = await call(['--json'])
    expect(run.exitCode).toBe(2)
    expect(JSON.parse(run.stderr)).toEqual({
      error: {
        kind: null,
        message: 'keyrail call needs a method',
        hint: 'for example keyrail call eth_blockNumber',
        retryAfterMs: null,
        rpcError: null,
        exitCode: 2,
      },
    })
  })
})

describe('keyrail call, rejected (exit code 1)', () => {
  test.each<[string, string[], string, string[]]>([
    ['an unsupported method', ['eth_sign', '0x12', '0x34'], 'methodUnavailable', ['-32601', 'hint: ']],
    ['invalid params', ['eth_getBalance', '0x12', 'latest'], 'invalidRequest', ['-32602', 'hint: ']],
    [
      'a transfer without the balance',
      ['eth_call', '{"to":"TOKEN","data":"DATA"}', 'latest'],
      'revert',
      ['data: "0xdb42144d'],
    ],
  ])('prints the kind and the response for %s', async (_what, words, kind, parts) => {
    const token = '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'
    const data = `0xa9059cbb${'00'.repeat(31)}01${'00'.repeat(31)}01`
    const run = await appCall(...words.map((word) => word.replace('TOKEN', token).replace('DATA', data)))
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toMatch(new RegExp(`^${kind}: `))
    for (const part of parts) expect(run.stderr).toContain(part)
  })

  test('an unknown key', async () => {
    const run = await call(['eth_blockNumber', '--base-url', testnet], { KEYRAIL_API_KEY: `kr_a${'0'.repeat(39)}` })
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toMatch(/^auth: /)
  })

  test("an API key with an app's base URL", async () => {
    const run = await call(['eth_blockNumber', '--base-url', testnet], {
      KEYRAIL_API_KEY: dev.service.keys.testnet.apiKey,
    })
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toMatch(/^auth: /)
  })
})

describe('keyrail call, without a response (exit code 3)', () => {
  test('nothing listens', async () => {
    const run = await call(['eth_blockNumber', '--base-url', 'http://127.0.0.1:1/testnet', '--key-file', keyFile])
    expect(run).toMatchObject({ exitCode: 3, stdout: '' })
    expect(run.stderr).toMatch(/^network: /)
  })

  test('a timeout', async () => {
    const run = await call(['eth_blockNumber', '--base-url', muteUrl, '--key-file', keyFile, '--timeout', '300'])
    expect(run).toMatchObject({ exitCode: 3, stdout: '' })
    expect(run.stderr).toMatch(/^timeout: .*no response within 300 ms/)
  })
})

describe('keyrail call, invalid usage (exit code 2)', () => {
  test.each<[string, string[], RegExp]>([
    ['no method', ['call'], /needs a method/],
    ['no URL', ['call', 'eth_blockNumber'], /URL is missing[\s\S]*KEYRAIL_URL/],
    ['no key', ['call', 'eth_blockNumber', '--base-url', 'http://127.0.0.1:1'], /needs a key[\s\S]*KEYRAIL_API_KEY/],
    [
      'a key in the arguments',
      ['call', 'eth_blockNumber', '--api-key', 'secret-secret'],
      /--api-key is not accepted[\s\S]*--key-file/,
    ],
    [
      'two URLs',
      ['call', 'a_b', '--url', 'http://a', '--base-url', 'http://b'],
      /--url and --base-url cannot be combined/,
    ],
    ['a key file alone', ['call', 'a_b', '--key-file', 'x'], /--key-file needs --base-url or --rpc-url/],
    [
      'a missing key file',
      ['call', 'a_b', '--base-url', 'http://a', '--key-file', '/no/file'],
      /cannot read the key file .* \(ENOENT\)/,
    ],
    [
      'an invalid network',
      ['call', 'a_b', '--url', 'http://a', '--network', 'Main_net'],
      /must be the name of a network/,
    ],
    ['a placeholder without --network', ['call', 'a_b', '--url', 'http://a/{network}'], /add --network/],
    [
      'a network that differs from the URL',
      ['call', 'a_b', '--url', 'http://a/mainnet', '--network', 'testnet'],
      /contains neither \/testnet nor \{network\}/,
    ],
    ['an invalid URL', ['call', 'a_b', '--url', '127.0.0.1:8545'], /http/],
    ['an invalid timeout', ['call', 'a_b', '--url', 'http://a', '--timeout', '0'], /--timeout must be a whole number/],
    ['invalid JSON', ['call', 'a_b', '{"a":', '--url', 'http://a'], /param 1 is not valid JSON/],
    ['params twice', ['call', 'a_b', 'latest', '--params', '[]'], /--params cannot be combined/],
    ['an unknown option', ['call', 'a_b', '--bse-url', 'http://a'], /did you mean --base-url\?/],
  ])('%s', async (_what, words, message) => {
    const run = await runHere(words)
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toMatch(message)
    expect(run.stderr).not.toContain('secret-secret')
  })

  test.each([
    ['', 'is empty'],
    ['one\ntwo\n', 'has more than one line'],
  ])('rejects a key file of %j', async (text, message) => {
    const file = join(folder, 'odd.key')
    writeFileSync(file, text)
    const run = await call(['eth_blockNumber', '--base-url', testnet, '--key-file', file])
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toContain(message)
  })
})

describe('keyrail call, while running', () => {
  test.skipIf(process.platform === 'win32')('does not show the key in process lists', async () => {
    const before = received
    const key = dev.service.app.apiKey
    const running = startCli(['call', 'eth_blockNumber', '--url', `${muteUrl}/v2/${key}`])
    await until('the request arrives', () => received > before)
    expect(readCommandLine(running.child.pid ?? 0)).not.toContain(key.slice(4, 12))
    running.child.kill('SIGTERM')
    await running.done
  })
})
