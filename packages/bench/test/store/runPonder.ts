import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { getFreePort } from '@keyrail/gateway/test/getFreePort.ts'

/** What an app of Ponder indexes. */
export interface PonderApp {
  readonly rpcUrl: string
  readonly chainId: number
  /** The addresses of the tokens whose transfers it reads. */
  readonly tokens: readonly string[]
  /** Of these, those whose receipts it reads too. */
  readonly withReceipts: readonly string[]
  /** How many transfers it should find. Those of the newest blocks come after the others. */
  readonly logs: number
}

const home = fileURLToPath(new URL('ponder/', import.meta.url))
const patienceMs = 600_000

/** Ponder sends 20 requests a second to each URL at first, and the same URL may be named several times. */
const urls = 20

/** The files of the app. Ponder does not read them as modules of this repository. */
const files = {
  'package.json': '{ "type": "module" }',
  'ponder.config.ts': `
import { createConfig } from 'ponder'
const { rpcUrls, chainId, tokens, withReceipts } = JSON.parse(process.env.KEYRAIL_PONDER)
const abi = [{ type: 'event', name: 'Transfer', inputs: [
  { name: 'from', type: 'address', indexed: true },
  { name: 'to', type: 'address', indexed: true },
  { name: 'amount', type: 'uint256', indexed: false },
] }]
export default createConfig({
  database: { kind: 'pglite' },
  chains: { model: { id: chainId, rpc: rpcUrls } },
  contracts: {
    Token: { chain: 'model', abi, address: tokens, startBlock: 0 },
    Receipted: { chain: 'model', abi, address: withReceipts, startBlock: 0, includeTransactionReceipts: true },
  },
})`,
  'ponder.schema.ts': `
import { onchainTable } from 'ponder'
export const transfer = onchainTable('transfer', (t) => ({ id: t.text().primaryKey(), amount: t.bigint().notNull() }))`,
  'src/index.ts': `
import { ponder } from 'ponder:registry'
import { transfer } from 'ponder:schema'
const add = async ({ event, context }) =>
  context.db.insert(transfer).values({ id: event.id, amount: event.args.amount })
ponder.on('Token:Transfer', add)
ponder.on('Receipted:Transfer', add)`,
  'src/api/index.ts': `
import { db } from 'ponder:api'
import { transfer } from 'ponder:schema'
import { Hono } from 'hono'
const app = new Hono()
app.get('/count', async (c) => {
  const rows = await db.select({ amount: transfer.amount }).from(transfer)
  return c.json({ logs: rows.length, amount: rows.reduce((sum, { amount }) => sum + Number(amount), 0) })
})
export default app`,
}

/** The version that is measured. */
export const getPonderVersion = (): string =>
  (JSON.parse(readFileSync(`${home}package.json`, 'utf8')) as { dependencies: { ponder: string } }).dependencies.ponder

/**
 * Installs Ponder, in the exact version of ponder/package.json.
 * @throws If it cannot be installed.
 */
const installPonder = (): void => {
  if (existsSync(`${home}node_modules/.package-lock.json`)) return
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  const { status } = spawnSync('npm', args, {
    cwd: home,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error('Ponder could not be installed')
}

/**
 * Runs Ponder with an empty database until it has indexed the chain, or for ten minutes.
 * @returns What it has indexed.
 * @throws If it ends before, or has not read the final blocks in ten minutes.
 */
export const runPonder = async ({ rpcUrl, logs, ...app }: PonderApp): Promise<{ logs: number; amount: number }> => {
  installPonder()
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-ponder-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  symlinkSync(`${home}node_modules`, join(folder, 'node_modules'), 'junction')
  const port = await getFreePort()
  const child = spawn(
    process.execPath,
    [
      join(folder, 'node_modules/ponder/dist/esm/bin/ponder.js'),
      'start',
      '--schema=measured',
      '--log-level=error',
      `--port=${port}`,
      '--hostname=127.0.0.1',
    ],
    {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        PONDER_TELEMETRY_DISABLED: '1',
        KEYRAIL_PONDER: JSON.stringify({ ...app, rpcUrls: Array.from({ length: urls }, () => rpcUrl) }),
      },
    },
  )
  try {
    const read = async (path: string): Promise<Response | undefined> =>
      fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined)
    const endsAt = performance.now() + patienceMs
    while ((await read('/ready'))?.status !== 200) {
      if (child.exitCode !== null) throw new Error(`Ponder has ended with ${child.exitCode}`)
      if (performance.now() > endsAt) throw new Error('Ponder has not indexed the chain in ten minutes')
      await sleep(200)
    }
    const readCount = async (): Promise<{ logs: number; amount: number }> => {
      if (child.exitCode !== null) throw new Error(`Ponder has ended with ${child.exitCode}`)
      const counted = (await (await read('/count'))?.json()) as { logs: number; amount: number } | undefined
      if (counted !== undefined && (counted.logs >= logs || performance.now() > endsAt)) return counted
      await sleep(200)
      return readCount()
    }
    return await readCount()
  } finally {
    if (child.exitCode === null) {
      child.kill('SIGINT')
      await Promise.race([once(child, 'exit'), sleep(5_000)])
      child.kill('SIGKILL')
    }
    rmSync(folder, { recursive: true, force: true })
  }
}
