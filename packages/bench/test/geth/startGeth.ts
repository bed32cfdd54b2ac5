import { execFile, spawn } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { getFreePort } from '@keyrail/gateway/test/getFreePort.ts'

/** A geth that is running. */
export interface Geth {
  /** The URL of its HTTP endpoint. */
  readonly url: string
  readonly stop: () => Promise<void>
}

/** The options of a geth. */
export interface GethOptions {
  readonly binary: string
  /** The folder `tests` of execution-apis, which has the test chain. */
  readonly tests: string
  /** The folder that the chain was imported to. */
  readonly dataFolder: string
}

const run = promisify(execFile)
/** An archive node has the state of all blocks, which needs the scheme by hash. */
const archive = ['--gcmode=archive', '--state.scheme=hash']

/** Imports the test chain into an empty data folder. */
export const importChain = async ({ binary, tests, dataFolder }: GethOptions): Promise<void> => {
  const data = `--datadir=${dataFolder}`
  await run(binary, [data, ...archive, 'init', join(tests, 'genesis.json')])
  await run(binary, [data, '--gcmode=archive', 'import', join(tests, 'chain.rlp')])
}

/** Copies a data folder, for a second geth with the same chain. */
export const copyChain = (from: string, to: string): void => cpSync(from, to, { recursive: true })

/** The payload of `headfcu.json`: the request that makes the last block the head. */
interface ForkchoiceUpdate {
  readonly method: string
  readonly params: readonly unknown[]
}

const startMs = 20_000

/** Starts a geth without peers, on loopback, and makes the last block of the test chain its head. */
export const startGeth = async ({ binary, tests, dataFolder }: GethOptions): Promise<Geth> => {
  const [port, enginePort] = [await getFreePort(), await getFreePort()]
  const secret = randomBytes(32)
  const secretFile = join(dataFolder, 'jwt.hex')
  writeFileSync(secretFile, secret.toString('hex'), { mode: 0o600 })
  const child = spawn(
    binary,
    [
      `--datadir=${dataFolder}`,
      '--gcmode=archive',
      '--nodiscover',
      '--maxpeers=0',
      '--port=0',
      '--ipcdisable',
      '--http',
      '--http.addr=127.0.0.1',
      `--http.port=${port}`,
      '--http.api=admin,eth,debug,net,txpool,testing',
      '--authrpc.addr=127.0.0.1',
      `--authrpc.port=${enginePort}`,
      `--authrpc.jwtsecret=${secretFile}`,
    ],
    { stdio: 'ignore' },
  )
  const ended = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  const update = JSON.parse(readFileSync(join(tests, 'headfcu.json'), 'utf8')) as ForkchoiceUpdate
  await waitUntil(async () => (await post(url, { method: 'eth_chainId', params: [] })).includes('result'))
  const response = await post(`http://127.0.0.1:${enginePort}`, update, createToken(secret))
  if (!response.includes('VALID')) throw new Error(`geth rejected the head: ${response}`)
  return {
    url,
    stop: async () => {
      child.kill()
      await ended
    },
  }
}

/** Posts a call. @param token - Of the engine API. @returns The text of the response. */
export const post = async (url: string, call: ForkchoiceUpdate, token?: string): Promise<string> => {
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: call.method, params: call.params }),
  })
  return response.text()
}

/** Waits until geth responds. */
export const waitUntil = async (condition: () => Promise<boolean>): Promise<void> => {
  const endsAt = performance.now() + startMs
  while (!(await condition().catch(() => false))) {
    if (performance.now() > endsAt) throw new Error(`geth did not respond within ${startMs / 1_000} s`)
    await sleep(100)
  }
}

/** Creates the token that the engine API asks for. */
export const createToken = (secret: Buffer): string => {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ iat: Math.floor(Date.now() / 1_000) })}`
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`
}
