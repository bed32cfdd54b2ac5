import { execFile, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { getAppCode } from '@keyrail/gateway/test/account/appCode.ts'
import { createToken, logIn } from './createToken.ts'
import { failedRun } from './failedRun.ts'
import { post, startDevCli } from './runCli.ts'
import type { CliRun, RunningDev } from './runCli.ts'
import { runHere } from './runHere.ts'
import { getProgram, needs } from '../../../scripts/externalPrograms.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let folder = ''
let dev: RunningDev
let service = ''
/** Tokens by scope. */
const tokens = { all: '', read: '' }

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-control-'))
  // Where the samples of docs/cli.md expect it.
  dev = await startDevCli(['--data', join(folder, '.keyrail')])
  service = dev.service.url
  const cookie = await logIn(dev.service)
  tokens.all = await createToken(service, cookie, ['read', 'keys:write', 'apps:write'])
  tokens.read = await createToken(service, cookie, ['read'])
})
afterAll(async () => {
  dev.child.kill('SIGTERM')
  await dev.done
  rmSync(folder, { recursive: true, force: true })
})

const withToken = (extra: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  KEYRAIL_SERVICE_URL: service,
  KEYRAIL_TOKEN: tokens.all,
  ...extra,
})

/** Runs a command that is expected to succeed, and checks that it prints neither the token nor the password. */
async function succeed(words: readonly string[], extra: Readonly<Record<string, string>> = {}): Promise<CliRun> {
  const run = await runHere(words, withToken(extra))
  expect(run).toMatchObject({ exitCode: 0 })
  for (const secret of [tokens.all, dev.service.account.password]) {
    expect(run.stdout + run.stderr).not.toContain(secret)
  }
  return run
}

const readBlockNumber = async (url: string): Promise<unknown> => (await post(url, 'eth_blockNumber'))['result']
const getKeyUrl = (apiKey: string): string => `${service}/testnet/${apiKey}`
const read = (file: string): string => readFileSync(file, 'utf8').trim()

describe('the samples of docs/cli.md', () => {
  const markdown = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')
  // A text block after commands is their output. The service is already running, and test/packedCommand.verify.ts installs the command.
  const samples = [...markdown.matchAll(/^```sh\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```)?/gm)]
    .map(([, shell = '', printed]) => ({ shell, printed }))
    .filter(({ shell }) => !/keyrail dev|npm (install|run)/.test(shell))

  /** Replaces what differs from run to run. */
  const normalize = (text: string): string =>
    text
      .replaceAll(`${folder}/`, '')
      .replaceAll(service, 'http://127.0.0.1:7245')
      .replaceAll(service.replace('http://', ''), '127.0.0.1:7245')
      .replaceAll(/\b(key|app)_[0-9a-z]{20}\b/g, '$1_ID')
      .replaceAll(/…\w{4}/g, '…XXXX')
      .replaceAll(/(ends with +)\w{4}$/gm, '$1XXXX')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\bin \d+ ms\b/g, 'in N ms')
      .replaceAll(/\bblock \d+, \d+ (?:s|min|h) old/g, 'block N, N s old')
      .replaceAll(/\branges of [\d,]+ blocks/g, 'ranges of N blocks')
      .replaceAll(/[\d,]+ of [\d,]+ a (day|month) left/g, 'N of N a $1 left')
      // On a busy machine, calls may take a second.
      .replaceAll(/^(?:ok|warn) +latency .*(?:\n +fix: .*)?$/gm, 'ok  latency')
      .replaceAll(/^\d+ passed(?:, \d warnings?)?$/gm, 'N passed')
      .replaceAll(/ {2,}/g, '  ')
      .trim()

  test('run unchanged, and print the documented output', async () => {
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
      execFile('bash', ['-c', script], { cwd: folder, env }, (error, out, err) =>
        resolve({ stdout: out, failure: error === null ? '' : `${out}${err}` }),
      )
    })
    expect(failure).toBe('')
    const printed = stdout
      .split('\u001E')
      .slice(1)
      .map((text) => normalize(text))
    expect(printed).toHaveLength(samples.length)
    expect(samples.filter((sample) => sample.printed !== undefined).length).toBeGreaterThan(5)
    for (const [at, sample] of samples.entries()) {
      if (sample.printed !== undefined) expect(printed[at]).toBe(normalize(sample.printed))
    }
    // The commands wrote these files.
    expect(JSON.parse(read(join(folder, 'shop.json')))).toMatchObject({ name: 'Shop', state: 'rotated' })
    expect(read(join(folder, 'keys/again'))).toBe(dev.service.keys.testnet.apiKey)
    expect(read(join(folder, 'balance.mts'))).toContain("from '@keyrail/viem'")
  }, 300_000)
})

describe('keyrail keys', () => {
  test('a created key works, and only its owner can read its file', async () => {
    const file = join(folder, 'made/key')
    const words = ['keys', 'create', 'Made here', '--network', 'testnet', '--expires', '2999-01-01', '--key-file', file]
    const run = await succeed([...words, '--json'])
    const { key, ...rest } = JSON.parse(run.stdout) as { key: Record<string, unknown> }
    expect(key).toMatchObject({ name: 'Made here', network: 'testnet', expiresAt: '2999-01-01T00:00:00.000Z' })
    expect(rest).toEqual({ keyFile: file })
    expect(run.stdout).not.toContain(read(file))
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await readBlockNumber(getKeyUrl(read(file)))).toMatch(/^0x/)

    // An existing file is not overwritten, and no key is created that could not be written.
    const again = await failedRun(words, withToken())
    expect(again).toMatchObject({
      exitCode: 2,
      lines: [expect.stringContaining('already exists'), expect.anything()],
    })
    expect(JSON.parse((await succeed(['keys', 'list', '--json'])).stdout)).toMatchObject({ items: { length: 3 } })
    const names = ['Example key, testnet', 'Example key, mainnet', 'Made here']
    expect((await succeed(['keys', 'list', '--names'])).stdout.trimEnd().split('\n').toSorted()).toEqual(
      names.toSorted(),
    )

    const before = read(file)
    const rotated = await succeed(['keys', 'rotate', 'Made here', '--grace', '1', '--show'])
    expect(rotated.stdout).toMatch(/^kr_t[0-9A-Za-z]{39}\n$/)
    expect(rotated.stderr).toMatch(/^Rotated the key of Made here\. The old key works until .*Z\.\n$/)
    expect(rotated.stdout.trim()).not.toBe(before)
    expect(await readBlockNumber(getKeyUrl(rotated.stdout.trim()))).toMatch(/^0x/)
    expect(await readBlockNumber(getKeyUrl(before))).toMatch(/^0x/)
    await succeed(['keys', 'drop-old', 'Made here'])
    expect(await readBlockNumber(getKeyUrl(before))).toBeUndefined()

    expect(await failedRun(['keys', 'revoke', 'Made here'], withToken())).toMatchObject({
      exitCode: 2,
      lines: ['keyrail: cannot revoke Made here without confirmation', '  hint: add --yes to confirm'],
    })
    await succeed(['keys', 'revoke', String(key['id']), '--yes'])
    expect(await readBlockNumber(getKeyUrl(rotated.stdout.trim()))).toBeUndefined()
  })

  test('reveal prints only the key to standard output, or JSON with its URLs', async () => {
    const who = ['--email', dev.service.account.email, '--password-file', join(folder, '.keyrail/password')]
    const { apiKey, url } = dev.service.keys.mainnet
    const run = await succeed(['keys', 'reveal', 'Example key, mainnet', ...who], { KEYRAIL_TOKEN: '' })
    expect(run.stdout).toBe(`${apiKey}\n`)
    expect(run.stderr).toBe('Revealed the key of Example key, mainnet, and recorded it in the audit log\n')
    const line = await succeed(['apps', 'reveal', dev.service.app.id, ...who, '--json'], { KEYRAIL_TOKEN: '' })
    const { app } = dev.service
    expect(JSON.parse(line.stdout)).toEqual({ id: app.id, apiKey: app.apiKey, urls: app.urls })
    expect(url).toContain(apiKey)
    // The session has ended.
    const log = (await (
      await fetch(`${service}/api/audit-log`, { headers: { authorization: `Bearer ${tokens.read}` } })
    ).json()) as { items: { action: string }[] }
    const actions = log.items.slice(0, 6).map(({ action }) => action)
    expect(actions.filter((action) => action === 'key.reveal')).toHaveLength(2)
    expect(actions[0]).not.toBe('key.reveal')
  })
})

describe('keyrail accounts and members', () => {
  const request = async (path: string, body: unknown, headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${service}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: service, ...headers },
      body: JSON.stringify(body),
    })
    return (await response.json()) as { id: string; token: string; url: string }
  }

  test('show the account of the token, and manage its members', async () => {
    const cookie = await logIn(dev.service)
    const { id: team } = await request('/api/accounts', { name: 'Acme' }, { cookie })
    const body = { label: 'ci', scopes: ['read', 'members'], expiresAt: null }
    const { token } = await request('/api/tokens', body, { cookie, 'x-keyrail-account': team })
    const own = { KEYRAIL_TOKEN: token }
    const run = (words: readonly string[]) => succeed(words, own)

    expect((await run(['accounts', 'list'])).stdout).toMatch(
      new RegExp(`^ID .*\n${team} +Acme +team +owner +active\n$`),
    )
    const listed = JSON.parse((await succeed(['accounts', 'list', '--json'])).stdout) as { items: [{ id: string }] }
    expect(listed).toMatchObject({ items: [{ kind: 'personal', name: dev.service.account.email }] })
    const invited = await run(['members', 'invite', 'grace@example.org', '--role', 'viewer', '--json'])
    const { invite, url } = JSON.parse(invited.stdout) as { invite: { id: string }; url: string }
    expect(url).toMatch(/\/join#krm_\w{39}$/)
    expect((await run(['members', 'invites'])).stdout).toContain('grace@example.org')
    await run(['members', 'revoke-invite', invite.id])
    expect((await run(['members', 'invites'])).stdout).toBe('No open invites\n')
    expect((await run(['members', 'list', '--account', team])).stdout).toContain(`${dev.service.account.email}  owner`)

    const failed = (words: readonly string[]) => failedRun(words, withToken(own))
    const { email } = dev.service.account
    for (const words of [
      ['members', 'role', email, 'viewer'],
      ['members', 'remove', email, '--yes'],
    ])
      expect(await failed(words)).toMatchObject({ exitCode: 1, lines: [expect.stringContaining('Only an owner')] })
    expect(await failed(['members', 'invite', 'grace@example.org', '--role', 'boss'])).toMatchObject({ exitCode: 2 })
    expect(await failed(['members', 'role', 'nobody@example.org', 'viewer'])).toMatchObject({ exitCode: 1 })
    const who = ['--email', email, '--password-file', join(folder, '.keyrail/password')]
    expect(await failed(['members', 'require-second-factor', 'on', '--account', team, ...who])).toMatchObject({
      exitCode: 1,
      lines: [expect.stringContaining('This needs an account with a second factor'), expect.stringContaining('hint')],
    })
    const off = ['members', 'require-second-factor', 'off', '--account', team, ...who]
    expect((await run(off)).stdout).toBe('Members of Acme no longer need a second factor\n')
    expect(await failed(['members', 'require-second-factor', 'yes', ...who])).toMatchObject({ exitCode: 2 })
    expect(await failed(['members', 'require-second-factor', 'on'])).toMatchObject({ exitCode: 2 })
    expect(await failed(['apps', 'list', '--account', 'Acme'])).toMatchObject({ exitCode: 2 })
    // The token of another account.
    const other = await failedRun(['apps', 'list', '--account', team], withToken())
    expect(other).toMatchObject({ exitCode: 1, lines: [expect.stringContaining('not a member')] })

    // An app moves to the team, and back.
    const { id: app } = dev.service.app
    const { id: personal } = listed.items[0]
    const move = (to: string, from: string) =>
      succeed(['apps', 'move', app, to, '--account', from, ...who], { KEYRAIL_TOKEN: '' })
    expect((await move(team, personal)).stdout).toMatch(new RegExp(`^Moved .+ to ${team}\\n$`))
    expect((await run(['apps', 'list'])).stdout).toContain(app)
    await move(personal, team)
    expect((await run(['apps', 'list'])).stdout).toBe('No apps found\n')
  })

  test('leave a team with a password, not with a token', async () => {
    const cookie = await logIn(dev.service)
    const { id: team } = await request('/api/accounts', { name: 'Beta' }, { cookie })
    const grace = { email: 'grace@example.org', password: 'correct horse battery' }
    await request('/api/account', grace, {})
    const graceCookie = await logIn({ ...dev.service, account: { ...dev.service.account, ...grace } })
    const invite = { email: grace.email, role: 'developer' }
    const { url } = await request('/api/members/invites', invite, { cookie, 'x-keyrail-account': team })
    await request('/api/accounts/join', { invite: url.split('#')[1] }, { cookie: graceCookie })
    const file = join(folder, 'grace')
    writeFileSync(file, grace.password)
    const who = ['--email', grace.email, '--password-file', file]
    const leave = ['members', 'leave', '--account', team]
    const failed = (words: readonly string[]) => failedRun(words, withToken({ KEYRAIL_TOKEN: '' }))
    expect(await failed([...leave, '--yes'])).toMatchObject({
      exitCode: 2,
      lines: [expect.anything(), expect.anything()],
    })
    expect(await failed([...leave, ...who])).toMatchObject({
      exitCode: 2,
      lines: ['keyrail: cannot leave Beta without confirmation', '  hint: add --yes to confirm'],
    })
    for (const words of [
      ['leave', '--yes'],
      ['require-second-factor', 'off'],
    ])
      expect(await failed(['members', ...words, ...who])).toMatchObject({
        exitCode: 2,
        lines: ['keyrail: the team is missing', expect.stringContaining('--account')],
      })
    expect((await succeed([...leave, '--yes', ...who], { KEYRAIL_TOKEN: '' })).stdout).toBe(
      'Left Beta: your access tokens for it no longer work\n',
    )
    expect(await failed([...leave, '--yes', ...who])).toMatchObject({
      exitCode: 1,
      lines: [expect.stringContaining('not a member')],
    })
  })
})

describe('on a terminal', needs('python'), () => {
  const [main, onTerminal] = ['../src/main.ts', './onTerminal.py'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  ) as [string, string]

  /** Runs the command on a terminal, types the input at the prompt, and returns the screen's text. */
  const runOnTerminal = (
    words: readonly string[],
    { prompt, input }: { prompt: string; input: string },
  ): Promise<CliRun> => {
    const { KEYRAIL_URL: _url, KEYRAIL_API_KEY: _key, KEYRAIL_BASE_URL: _base, ...rest } = process.env
    const program = [process.execPath, '--conditions=@keyrail/source', main, ...words]
    const child = spawn(getProgram('python'), [onTerminal, ...program], { env: { ...rest, ...withToken() } })
    let stdout = ''
    let isTyped = false
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      if (isTyped || !stdout.includes(prompt)) return
      isTyped = true
      child.stdin.write(`${input}\r`)
    })
    return new Promise((resolve) => child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr: '' })))
  }

  test('prompts for the key without showing it', async () => {
    const { apiKey } = dev.service.app
    const run = await runOnTerminal(['call', 'eth_chainId', '--base-url', `${service}/testnet`], {
      prompt: 'shown): ',
      input: apiKey,
    })
    expect(run.stdout.replaceAll('\r', '')).toBe('API key (not shown): \n"0x74657374"\n')
    expect(run.exitCode).toBe(0)
  })

  test('reveal asks for a code if the account has a second factor, and says so without a terminal', async () => {
    const headers = { 'content-type': 'application/json', cookie: await logIn(dev.service), origin: service }
    const send = async (path: string, body: unknown): Promise<unknown> => {
      const response = await fetch(`${service}/api/account/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      return response.json().catch(() => undefined)
    }
    const { totp } = (await send('factors/options', {})) as { totp: { setup: string; secret: string } }
    const { factor, recoveryCodes } = (await send('factors', {
      label: 'App',
      totp: { setup: totp.setup, code: getAppCode(totp.secret, Date.now()) },
    })) as { factor: { id: string }; recoveryCodes: readonly string[] }
    const { account, keys } = dev.service
    const who = ['--email', account.email, '--password-file', join(folder, '.keyrail/password')]
    const words = ['keys', 'reveal', 'Example key, mainnet', ...who]
    const [code = ''] = recoveryCodes
    try {
      expect(await failedRun(words, withToken({ KEYRAIL_TOKEN: '' }))).toMatchObject({
        exitCode: 1,
        lines: [
          'keyrail: the account has a second factor, and this command cannot prompt for a code',
          '  hint: run it on a terminal, or use the dashboard',
        ],
      })
      const run = await runOnTerminal(words, { prompt: 'shown): ', input: code })
      expect(run.stdout).toContain('Code of your authenticator app, or a recovery code (not shown): ')
      expect(run.stdout).toContain(keys.mainnet.apiKey)
      expect(run.stdout).not.toContain(code)
      expect(run.exitCode).toBe(0)
      const again = await runOnTerminal(words, { prompt: 'shown): ', input: code })
      expect(again.stdout).toContain('The code or passkey is wrong')
      expect(again.exitCode).toBe(1)
    } finally {
      await send(`factors/${factor.id}/remove`, {})
    }
  })

  test('does not revoke a key if another name is typed', async () => {
    const run = await runOnTerminal(['keys', 'revoke', 'Example key, testnet'], {
      prompt: 'to confirm: ',
      input: 'Example',
    })
    expect(run.stdout).toContain('the name does not match; nothing was changed')
    expect(run.exitCode).toBe(1)
    expect(await readBlockNumber(dev.service.keys.testnet.url)).toMatch(/^0x/)
  })
})

describe('rejected requests (exit code 1)', () => {
  const shown = ['keys', 'show', 'Example key, testnet']

  test.each<[string, string[], () => Record<string, string>, RegExp, RegExp]>([
    [
      'an unknown token',
      shown,
      () => withToken({ KEYRAIL_TOKEN: 'krp_nobody' }),
      /Log in, or send a valid access token/,
      /another token/,
    ],
    [
      'a read-only token',
      ['apps', 'create', 'Not mine to make', '--show'],
      () => withToken({ KEYRAIL_TOKEN: tokens.read }),
      /does not have the scope apps:write/,
      /another token/,
    ],
    [
      'a name in use',
      ['apps', 'create', 'example APP', '--show'],
      () => withToken(),
      /Another app of this account has this name/,
      /^$/,
    ],
    [
      'an expiry in the past',
      ['keys', 'rotate', 'Example key, testnet', '--expires', '2020-01-01', '--show'],
      () => withToken(),
      /expiresAt is in the past/,
      /^$/,
    ],
    ['an unknown key name', ['keys', 'show', 'Nobody'], () => withToken(), /no API key has this name/, /keys list/],
    ['an unknown app name', ['apps', 'show', 'Nobody'], () => withToken(), /no app has this name/, /apps list/],
    [
      'an unknown id',
      ['keys', 'show', `key_${'0'.repeat(20)}`],
      () => withToken(),
      /Not found/,
      /belongs to another account/,
    ],
    [
      'a wrong password',
      ['keys', 'reveal', 'Example key, testnet', '--email', 'dev@keyrail.test', '--password-file', 'TOKEN'],
      () => withToken(),
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

describe('invalid usage (exit code 2), without any request', () => {
  const nowhere = { KEYRAIL_SERVICE_URL: 'http://127.0.0.1:1', KEYRAIL_TOKEN: 'krp_x' }

  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['no action', ['keys'], nowhere, /needs an action: list, create, show/],
    ['an unknown action', ['keys', 'rotat', 'x'], nowhere, /did you mean rotate\?/],
    ['no name', ['apps', 'create', '--show'], nowhere, /takes NAME/],
    ['an unquoted name', ['keys', 'show', 'two', 'words'], nowhere, /quotes/],
    ['an option of another action', ['keys', 'list', '--grace', '1'], nowhere, /keys list has no option --grace/],
    ['--email for an action with a token', ['keys', 'list', '--email', 'a@b'], nowhere, /no option --email/],
    ['no network', ['keys', 'create', 'a', '--show'], nowhere, /needs a network/],
    ['no output for the key', ['apps', 'create', 'a'], nowhere, /--key-file FILE to store it, or --show/],
    ['two outputs for the key', ['keys', 'rotate', 'a', '--show', '--key-file', 'x'], nowhere, /cannot be combined/],
    ['a grace period that is too long', ['keys', 'rotate', 'a', '--show', '--grace', '8'], nowhere, /from 0 to 7/],
    ['an invalid expiry', ['apps', 'rotate', 'a', '--show', '--expires', 'soon'], nowhere, /--expires must be a date/],
    ['no service', ['keys', 'list'], { KEYRAIL_TOKEN: 'krp_x' }, /KEYRAIL_SERVICE_URL/],
    ['no token', ['keys', 'list'], { KEYRAIL_SERVICE_URL: 'http://127.0.0.1:1' }, /--token-file/],
    ['a key instead of a token', ['keys', 'list'], { ...nowhere, KEYRAIL_TOKEN: 'kr_secret-secret' }, /is an API key/],
    ['a path', ['keys', 'list', '--service', 'http://127.0.0.1:1/v2/secret-secret'], nowhere, /nothing more/],
    ['reveal without --email', ['keys', 'reveal', 'a'], nowhere, /add --email/],
    ['a token as an argument', ['keys', 'list', '--token', 'secret-secret'], nowhere, /stay in the shell's history/],
  ])('%s', async (_what, words, environment, message) => {
    const report = await failedRun(words, environment)
    expect(report.exitCode).toBe(2)
    expect(report.lines.join('\n')).toMatch(message)
    expect(report.lines.join('\n')).not.toContain('secret-secret')
  })
})

describe('no valid response (exit code 3)', () => {
  test.each<[string, RequestListener | undefined, RegExp]>([
    ['nothing listens', undefined, /ECONNREFUSED/],
    ['a page', (_request, response) => response.end('<html>'), /HTTP 200 without JSON/],
    [
      'a redirect, which is not followed',
      (request, response) => {
        expect(request.url).toBe('/api/keys')
        response.writeHead(302, { location: '/stolen' }).end()
      },
      /redirect \(HTTP 302\)/,
    ],
    ['a truncated response', (_request, response) => response.writeHead(200).end('{"items":'), /without JSON/],
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
