import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { getFreePort } from '../getFreePort.ts'
import { result, startFakeUpstream } from '../fakeUpstream.ts'
import { post } from '../startGateway.ts'
import { runKeyrail, startServeIn } from './serviceProcess.ts'
import type { ServiceProcess } from './serviceProcess.ts'

const createFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-serve-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const nodeUrlEnv = 'BASE_NODE'
const options = ['--network', 'base-mainnet', '--upstream', `ENV:${nodeUrlEnv}`]

/** Starts the service in a folder, in front of a node of Base. */
const start = async (
  folder: string,
  words: readonly string[],
  more: Record<string, string> = {},
): Promise<ServiceProcess> => {
  const node = await startFakeUpstream(8_453)
  onTestFinished(node.stop)
  node.behave = (call) => result(call, '"0xa"')
  const service = await startServeIn(folder, words, { [nodeUrlEnv]: node.url, ...more })
  onTestFinished(() => void service.stop('SIGKILL'))
  return service
}

/** The URL with the first key. */
const getUrl = (stderr: string): string => /base-mainnet {2}(http:\S+)/.exec(stderr)?.[1] ?? ''

const call = async (url: string): Promise<unknown> =>
  JSON.parse((await post(url, '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}')).text)

test('keyrail serve without a config file prints a link for the operator and a key, once, and works again with both', async () => {
  const folder = createFolder()
  const port = await getFreePort()
  const words = [...options, '--port', String(port)]
  const first = await start(folder, words)
  // The note is written after the service listens.
  const { stderr } = await first.until(({ stderr: text }) => getUrl(text) !== '')
  const url = getUrl(stderr)
  expect(url).toMatch(new RegExp(`^http://127.0.0.1:${port}/base-mainnet/v2/kr_a`))
  expect(await call(url)).toMatchObject({ result: '0xa' })

  const [, site = '', link = ''] = /(http:\S+)\/reset-password#(krl_\S+)/.exec(stderr) ?? []
  const setPassword = (): Promise<Response> =>
    fetch(`${site}/api/account/password/reset`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: site },
      body: JSON.stringify({ link, password: 'correct horse battery staple' }),
    })
  const set = await setPassword()
  expect([set.status, await set.json()]).toEqual([
    200,
    expect.objectContaining({ account: expect.objectContaining({ email: 'operator@keyrail.test', role: 'operator' }) }),
  ])
  expect((await setPassword()).status).not.toBe(200)
  expect(first.printed().stdout).not.toContain(link)
  expect(first.printed().stdout).not.toContain(url.slice(url.lastIndexOf('/') + 1))
  expect(statSync(join(folder, 'data/secret')).mode & 0o777).toBe(0o600)
  expect(existsSync(join(folder, 'keyrail.config.json'))).toBe(false)
  expect((await first.stop()).exitCode).toBe(0)

  const second = await start(folder, words)
  expect(await call(url)).toMatchObject({ result: '0xa' })
  expect((await second.stop()).stderr).toBe('')
})

test('--write-config writes a config file with the same meaning, and never replaces one', async () => {
  const folder = createFolder()
  const port = await getFreePort()
  const words = [...options, '--port', String(port), '--write-config']
  const first = await start(folder, words)
  const { stderr } = await first.until(({ stderr: text }) => getUrl(text) !== '')
  expect(stderr).toContain(
    'Wrote keyrail.config.json. Next time, start with: KEYRAIL_SECRET_FILE=data/secret keyrail serve',
  )
  expect(JSON.parse(readFileSync(join(folder, 'keyrail.config.json'), 'utf8'))).toEqual({
    publicUrl: `http://127.0.0.1:${port}`,
    listen: { port },
    signUp: 'invite',
    storage: { file: 'data/keyrail.db' },
    networks: { 'base-mainnet': { upstreams: [`ENV:${nodeUrlEnv}`] } },
  })
  await first.stop()
  await start(folder, [], { KEYRAIL_SECRET_FILE: join(folder, 'data/secret') })
  expect(await call(getUrl(stderr))).toMatchObject({ result: '0xa' })
  const again = await runKeyrail(['serve', ...words], {}, folder)
  expect([again.exitCode, again.stderr]).toEqual([
    2,
    expect.stringContaining('keyrail.config.json exists, and is not replaced'),
  ])
})
