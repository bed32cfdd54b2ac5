import { execFile, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { failedRun } from './failedRun.ts'
import { post, startDevCli } from './runCli.ts'
import type { CliRun, RunningDev } from './runCli.ts'
import { runHere } from './runHere.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let folder = ''
let dev: RunningDev
let service = ''
/** Of the scopes of each. */
const tokens = { all: '', read: '' }

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-control-'))
  dev = await startDevCli(['--data', folder])
  service = dev.service.url
  const cookie = await logIn()
  tokens.all = await makeToken(cookie, ['read', 'keys:write', 'apps:write'])
  tokens.read = await makeToken(cookie, ['read'])
})
afterAll(async () => {
  dev.child.kill('SIGTERM')
  await dev.done
  rmSync(folder, { recursive: true, force: true })
})

const json = { 'content-type': 'application/json' }

async function logIn(): Promise<string> {
  const { email, password } = dev.service.account
  const response = await fetch(`${service}/api/session`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ email, password }),
  })
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

async function makeToken(cookie: string, scopes: readonly string[]): Promise<string> {
  const response = await fetch(`${service}/api/tokens`, {
    method: 'POST',
    headers: { ...json, cookie, origin: service },
    body: JSON.stringify({ label: scopes.join(' '), scopes, expiresAt: null }),
  })
  return ((await response.json()) as { token: string }).token
}

const asked = (extra: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  KEYRAIL_SERVICE_URL: service,
  KEYRAIL_TOKEN: tokens.all,
  ...extra,
})

/** Runs a command that is to be done, and holds it to what is true of each: no token and no password is printed. */
async function done(words: readonly string[], extra: Readonly<Record<string, string>> = {}): Promise<CliRun> {
  const run = await runHere(words, asked(extra))
  expect(run).toMatchObject({ exitCode: 0 })
  for (const secret of [tokens.all, dev.service.account.password]) {
    expect(run.stdout + run.stderr).not.toContain(secret)
  }
  return run
}

const blockBy = async (address: string): Promise<unknown> => (await post(address, 'eth_blockNumber'))['result']
const keyAddress = (apiKey: string): string => `${service}/testnet/${apiKey}`
const read = (file: string): string => readFileSync(file, 'utf8').trim()

describe('the samples of docs/cli.md', () => {
  const markdown = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')
  // A block of text that follows one of commands is what these print. The service itself runs already.
  const samples = [...markdown.matchAll(/^```sh\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```)?/gm)]
    .map(([, shell = '', printed]) => ({ shell, printed }))
    .filter(({ shell }) => !shell.includes('keyrail dev'))

  /** What differs from run to run, the same. */
  const steady = (text: string): string =>
    text
      .replaceAll(`${folder}/`, '')
      .replaceAll(service, 'http://127.0.0.1:7245')
      .replaceAll(service.replace('http://', ''), '127.0.0.1:7245')
      .replaceAll(/\b(key|app)_[0-9a-z]{20}\b/g, '$1_ID')
      .replaceAll(/…\w{4}/g, '…XXXX')
      .replaceAll(/(ends in +)\w{4}$/gm, '$1XXXX')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\bin \d+ ms\b/g, 'in N ms')
      .replaceAll(/\bblock \d+, \d+ (?:s|min|h) old/g, 'block N, N s old')
      .replaceAll(/\ball [\d,]+ blocks/g, 'all N blocks')
      .replaceAll(/[\d,]+ of [\d,]+ a (day|month) left/g, 'N of N a $1 left')
      // On a machine that has other things to do calls may well take a second.
      .replaceAll(/^(?:ok|warn) +latency .*(?:\n +fix: .*)?$/gm, 'ok  latency')
      .replaceAll(/^\d+ passed(?:, \d to look at)?$/gm, 'N passed')
      .replaceAll(/ {2,}/g, '  ')
      .trim()

  test('run as they stand, and print what stands below them', async () => {
    const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
    writeFileSync(join(folder, 'token'), `${tokens.all}\n`)
    writeFileSync(
      join(folder, 'keyrail'),
      `#!/bin/sh\nexec '${process.execPath}' --conditions=@keyrail/source '${main}' "$@"\n`,
    )
    chmodSync(join(folder, 'keyrail'), 0o700)
    const script = ['set -euo pipefail', ...samples.flatMap(({ shell }) => [String.raw`printf '\036'`, shell])]
      .join('\n')
      .replaceAll('http://127.0.0.1:7245', service)
    const { KEYRAIL_URL: _url, KEYRAIL_API_KEY: _key, ...environment } = process.env
    const { stdout, failure } = await new Promise<{ stdout: string; failure: string }>((resolve) => {
      const env = { ...environment, PATH: `${folder}:${process.env['PATH']}` }
      execFile('bash', ['-c', script], { cwd: folder, env }, (error, out, told) =>
        resolve({ stdout: out, failure: error === null ? '' : `${out}${told}` }),
      )
    })
    expect(failure).toBe('')
    const printed = stdout
      .split('\u001E')
      .slice(1)
      .map((text) => steady(text))
    expect(printed).toHaveLength(samples.length)
    expect(samples.filter(({ printed: told }) => told !== undefined).length).toBeGreaterThan(5)
    for (const [at, { printed: told }] of samples.entries()) {
      if (told !== undefined) expect(printed[at]).toBe(steady(told))
    }
    // What was written to files is what it says it is.
    expect(JSON.parse(read(join(folder, 'shop.json')))).toMatchObject({ name: 'Shop', state: 'rotated' })
    expect(read(join(folder, 'keys/again'))).toBe(dev.service.keys.testnet.apiKey)
    expect(read(join(folder, 'balance.mts'))).toContain("from '@keyrail/viem'")
  }, 300_000)
})

describe('keyrail keys', () => {
  test('a key that is made works, and its file is for its owner alone', async () => {
    const file = join(folder, 'made/key')
    const words = ['keys', 'create', 'Made here', '--network', 'testnet', '--expires', '2999-01-01', '--key-file', file]
    const run = await done([...words, '--json'])
    const { key, ...rest } = JSON.parse(run.stdout) as { key: Record<string, unknown> }
    expect(key).toMatchObject({ name: 'Made here', network: 'testnet', expiresAt: '2999-01-01T00:00:00.000Z' })
    expect(rest).toEqual({ keyFile: file })
    expect(run.stdout).not.toContain(read(file))
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await blockBy(keyAddress(read(file)))).toMatch(/^0x/)

    // What is there already is not lost, and no key is made that could not be kept.
    const again = await failedRun(words, asked())
    expect(again).toMatchObject({
      exitCode: 2,
      lines: [expect.stringContaining('is there already'), expect.anything()],
    })
    expect(JSON.parse((await done(['keys', 'list', '--json'])).stdout)).toMatchObject({ items: { length: 3 } })

    const before = read(file)
    const rotated = await done(['keys', 'rotate', 'Made here', '--grace', '1', '--show'])
    expect(rotated.stdout).toMatch(/^kr_t[0-9A-Za-z]{39}\n$/)
    expect(rotated.stderr).toMatch(/^Made here has a new key\. The old key works until .*Z\.\n$/)
    expect(rotated.stdout.trim()).not.toBe(before)
    expect(await blockBy(keyAddress(rotated.stdout.trim()))).toMatch(/^0x/)
    expect(await blockBy(keyAddress(before))).toMatch(/^0x/)
    await done(['keys', 'drop-old', 'Made here'])
    expect(await blockBy(keyAddress(before))).toBeUndefined()

    expect(await failedRun(['keys', 'revoke', 'Made here'], asked())).toMatchObject({
      exitCode: 2,
      lines: ['keyrail: to revoke Made here cannot be undone', '  hint: add --yes if it is meant'],
    })
    await done(['keys', 'revoke', String(key['id']), '--yes'])
    expect(await blockBy(keyAddress(rotated.stdout.trim()))).toBeUndefined()
  })

  test('a key is shown again to a person: alone on standard output, and by JSON with its address', async () => {
    const who = ['--email', dev.service.account.email, '--password-file', join(folder, 'password')]
    const { apiKey, address } = dev.service.keys.mainnet
    const run = await done(['keys', 'reveal', 'Example key, mainnet', ...who], { KEYRAIL_TOKEN: '' })
    expect(run.stdout).toBe(`${apiKey}\n`)
    expect(run.stderr).toBe('The key of Example key, mainnet; the audit log has a line of it\n')
    const line = await done(['apps', 'reveal', dev.service.app.id, ...who, '--json'], { KEYRAIL_TOKEN: '' })
    const { app } = dev.service
    expect(JSON.parse(line.stdout)).toEqual({ id: app.id, apiKey: app.apiKey, addresses: app.addresses })
    expect(address).toContain(apiKey)
    // The session that it took is over.
    const log = (await (
      await fetch(`${service}/api/audit-log`, { headers: { authorization: `Bearer ${tokens.read}` } })
    ).json()) as { items: { action: string }[] }
    const actions = log.items.slice(0, 6).map(({ action }) => action)
    expect(actions.filter((action) => action === 'key.reveal')).toHaveLength(2)
    expect(actions[0]).not.toBe('key.reveal')
  })
})

const hasPython = spawnSync('python3', ['-c', 'import os, pty; os.waitstatus_to_exitcode']).status === 0

describe.skipIf(!hasPython)('on a terminal', () => {
  const [main, onTerminal] = ['../src/main.ts', './onTerminal.py'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  ) as [string, string]

  /** Runs the command on a terminal, types an answer once it is asked for one, and gives all that was to be seen. */
  const typed = (words: readonly string[], { prompt, answer }: { prompt: string; answer: string }): Promise<CliRun> => {
    const { KEYRAIL_URL: _url, KEYRAIL_API_KEY: _key, KEYRAIL_BASE_URL: _base, ...rest } = process.env
    const program = [process.execPath, '--conditions=@keyrail/source', main, ...words]
    const child = spawn('python3', [onTerminal, ...program], { env: { ...rest, ...asked() } })
    let stdout = ''
    let isAnswered = false
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      if (isAnswered || !stdout.includes(prompt)) return
      isAnswered = true
      child.stdin.write(`${answer}\r`)
    })
    return new Promise((resolve) => child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr: '' })))
  }

  test('a key is asked for, and not shown', async () => {
    const { apiKey } = dev.service.app
    const run = await typed(['call', 'eth_chainId', '--base-url', `${service}/testnet`], {
      prompt: 'shown): ',
      answer: apiKey,
    })
    expect(run.stdout.replaceAll('\r', '')).toBe('API key (not shown): \n"0x74657374"\n')
    expect(run.exitCode).toBe(0)
  })

  test('what cannot be undone is not done where another name is typed', async () => {
    const run = await typed(['keys', 'revoke', 'Example key, testnet'], { prompt: 'go on: ', answer: 'Example' })
    expect(run.stdout).toContain('another name was typed, and nothing was done')
    expect(run.exitCode).toBe(1)
    expect(await blockBy(dev.service.keys.testnet.address)).toMatch(/^0x/)
  })
})

describe('what is rejected (exit code 1) is told with its fix', () => {
  const shown = ['keys', 'show', 'Example key, testnet']

  test.each<[string, string[], () => Record<string, string>, RegExp, RegExp]>([
    ['a token that nobody has', shown, () => asked({ KEYRAIL_TOKEN: 'krp_nobody' }), /not logged in/, /another token/],
    [
      'a token that may only read',
      ['apps', 'create', 'Not mine to make', '--show'],
      () => asked({ KEYRAIL_TOKEN: tokens.read }),
      /does not have the scope apps:write/,
      /another token/,
    ],
    [
      'a name that is taken',
      ['apps', 'create', 'example APP', '--show'],
      () => asked(),
      /Another app of this account has this name/,
      /^$/,
    ],
    [
      'an end that is over',
      ['keys', 'rotate', 'Example key, testnet', '--expires', '2020-01-01', '--show'],
      () => asked(),
      /expiresAt is in the past: send a time in the future/,
      /^$/,
    ],
    ['a name that is none', ['keys', 'show', 'Nobody'], () => asked(), /no API key of this name/, /keys list/],
    ['an app that is none', ['apps', 'show', 'Nobody'], () => asked(), /no app of this name/, /apps list/],
    ['an id that is none', ['keys', 'show', `key_${'0'.repeat(20)}`], () => asked(), /Not found/, /not yours/],
    [
      'a wrong password',
      ['keys', 'reveal', 'Example key, testnet', '--email', 'dev@keyrail.test', '--password-file', 'TOKEN'],
      () => asked(),
      /email|password/,
      /check the email address and the password/,
    ],
  ])('%s', async (...[, words, environment, message, fix]) => {
    writeFileSync(join(folder, 'token-alone'), tokens.read)
    const report = await failedRun(
      words.map((word) => word.replace('TOKEN', join(folder, 'token-alone'))),
      environment(),
    )
    expect(report.exitCode).toBe(1)
    expect(report.lines[0]).toMatch(message)
    expect(report.lines[1] ?? '').toMatch(fix)
    expect(report.lines.join('\n')).not.toContain('krp_')
  })
})

describe('what is not understood (exit code 2) asks nobody', () => {
  const nowhere = { KEYRAIL_SERVICE_URL: 'http://127.0.0.1:1', KEYRAIL_TOKEN: 'krp_x' }

  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['no action', ['keys'], nowhere, /needs one of list, create, show/],
    ['an unknown action', ['keys', 'rotat', 'x'], nowhere, /did you mean rotate\?/],
    ['no name', ['apps', 'create', '--show'], nowhere, /takes NAME/],
    ['a name in pieces', ['keys', 'show', 'two', 'words'], nowhere, /quotes/],
    ['an option of another action', ['keys', 'list', '--grace', '1'], nowhere, /keys list has no option --grace/],
    ['a password where a token asks', ['keys', 'list', '--email', 'a@b'], nowhere, /no option --email/],
    ['no network', ['keys', 'create', 'a', '--show'], nowhere, /of one network/],
    ['nowhere for the key', ['apps', 'create', 'a'], nowhere, /--key-file FILE to have it there, or --show/],
    ['two places for it', ['keys', 'rotate', 'a', '--show', '--key-file', 'x'], nowhere, /exclude each other/],
    ['too long a grace', ['keys', 'rotate', 'a', '--show', '--grace', '8'], nowhere, /from 0 to 7/],
    ['no time', ['apps', 'rotate', 'a', '--show', '--expires', 'soon'], nowhere, /--expires is no time/],
    ['no service', ['keys', 'list'], { KEYRAIL_TOKEN: 'krp_x' }, /KEYRAIL_SERVICE_URL/],
    ['no token', ['keys', 'list'], { KEYRAIL_SERVICE_URL: 'http://127.0.0.1:1' }, /--token-file/],
    ['a key for a token', ['keys', 'list'], { ...nowhere, KEYRAIL_TOKEN: 'kr_secret-secret' }, /is an API key/],
    ['a path', ['keys', 'list', '--service', 'http://127.0.0.1:1/v2/secret-secret'], nowhere, /more than the address/],
    ['no person', ['keys', 'reveal', 'a'], nowhere, /add --email/],
    ['a token as an argument', ['keys', 'list', '--token', 'secret-secret'], nowhere, /stays in the history/],
  ])('%s', async (_what, words, environment, message) => {
    const report = await failedRun(words, environment)
    expect(report.exitCode).toBe(2)
    expect(report.lines.join('\n')).toMatch(message)
    expect(report.lines.join('\n')).not.toContain('secret-secret')
  })
})

describe('what does not answer as a service (exit code 3)', () => {
  test.each<[string, RequestListener | undefined, RegExp]>([
    ['nothing that listens', undefined, /ECONNREFUSED/],
    ['a page', (_request, response) => response.end('<html>'), /HTTP 200, and no JSON/],
    [
      'a way to another place, which the token does not take',
      (request, response) => {
        expect(request.url).toBe('/api/keys')
        response.writeHead(302, { location: '/stolen' }).end()
      },
      /points elsewhere \(HTTP 302\)/,
    ],
    ['a cut answer', (_request, response) => response.writeHead(200).end('{"items":'), /no JSON/],
  ])('%s', async (_what, listener, message) => {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const close = (): Promise<unknown> => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    }
    if (listener === undefined) await close()
    try {
      const report = await failedRun(['keys', 'list'], {
        KEYRAIL_SERVICE_URL: origin,
        KEYRAIL_TOKEN: 'krp_secret-secret',
      })
      expect(report.exitCode).toBe(3)
      expect(report.lines[0]).toMatch(message)
      expect(report.lines.join('\n')).not.toContain('secret-secret')
    } finally {
      if (listener !== undefined) await close()
    }
  })
})
