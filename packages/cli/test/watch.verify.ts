import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChainAnvil } from '@keyrail/gateway/test/subscription/chainAnvil.ts'
import type { ChainAnvil } from '@keyrail/gateway/test/subscription/chainAnvil.ts'
import { unreachableUrl, startGateway } from '@keyrail/gateway/test/startGateway.ts'
import type { StartedGateway } from '@keyrail/gateway/test/startGateway.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startCli, until } from './runCli.ts'
import type { CliRun, RunningCli } from './runCli.ts'
import { runHere } from './runHere.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let anvil: ChainAnvil
let withSockets: StartedGateway
let withoutSockets: StartedGateway
let folder = ''
let cursorFile = ''
let running: RunningCli | undefined

beforeAll(async () => {
  anvil = await startChainAnvil()
  withSockets = await startGateway({ testnet: [anvil.url] })
  withoutSockets = await startGateway({ testnet: [anvil.url] }, { webSocket: { enabled: false } })
})
afterAll(async () => {
  await withSockets.gateway.close()
  await withoutSockets.gateway.close()
  await anvil.stop()
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
  cursorFile = join(folder, 'cursor')
})
afterEach(async () => {
  running?.child.kill('SIGKILL')
  await running?.done
  running = undefined
  rmSync(folder, { recursive: true, force: true })
})

const getUrl = ({ url, app }: StartedGateway): string => `${url}/testnet/v2/${app}`

interface PrintedBlock {
  readonly number: number
  readonly hash: string
}
type PrintedEvent =
  | { readonly type: 'block'; readonly block: PrintedBlock }
  | { readonly type: 'log'; readonly log: { readonly blockNumber: number; readonly logIndex: number } }
  | { readonly type: 'reorg'; readonly ancestor: PrintedBlock; readonly removed: readonly unknown[] }

const parseEvents = (stdout: string): PrintedEvent[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as PrintedEvent)

/** Applies events to a chain from block 0. */
function applyEvents(chain: string[], events: readonly PrintedEvent[]): string[] {
  for (const event of events) {
    if (event.type === 'block') chain[event.block.number] = event.block.hash
    if (event.type === 'reorg') chain.length = event.ancestor.number + 1
  }
  return chain
}

const getHashes = async (): Promise<string[]> => (await anvil.blocks()).map(({ hash }) => hash)

/** Runs `keyrail watch` until its output satisfies a condition, then stops it. */
async function runWatch(
  words: readonly string[],
  gateway: StartedGateway,
  isDone: (stdout: string) => boolean | Promise<boolean>,
  signal: NodeJS.Signals = 'SIGINT',
): Promise<CliRun> {
  const { child, printed, done } = (running = startCli(['watch', ...words], { KEYRAIL_URL: getUrl(gateway) }))
  await until('the events are printed', () => isDone(printed().stdout)).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(printed())}`)
  })
  child.kill(signal)
  return done
}

const endpoints = [
  ['over a WebSocket', () => withSockets],
  ['by polling', () => withoutSockets],
] as const

describe.each(endpoints)('keyrail watch %s', (_, getGateway) => {
  test('continues where it was stopped, and undoes what a reorg replaced since', async () => {
    const words = ['blocks', '--json', '--from', '0', '--cursor-file', cursorFile]
    const chain: string[] = []
    await anvil.mine(1)
    await anvil.mine(0)
    let expected = await getHashes()
    const isComplete = (stdout: string): boolean =>
      applyEvents([...chain], parseEvents(stdout)).join() === expected.join()
    const first = await runWatch(words, getGateway(), isComplete)
    expect(first).toMatchObject({ exitCode: 0, stderr: `keyrail: saved the position in ${cursorFile}\n` })
    expect(existsSync(`${cursorFile}.lock`)).toBe(false)
    applyEvents(chain, parseEvents(first.stdout))

    await anvil.send('anvil_rollback', [1])
    await anvil.mine(2)
    await anvil.mine(0)
    expected = await getHashes()
    const second = await runWatch(words, getGateway(), isComplete)
    expect(second.stderr).toContain(`keyrail: resuming at the position in ${cursorFile}\n`)
    const events = parseEvents(second.stdout)
    expect(events.map(({ type }) => type)).toEqual(['reorg', 'block', 'block'])
    expect(events[0]).toMatchObject({ ancestor: { number: expected.length - 3, hash: expected.at(-3) }, removed: [] })
  })

  test('prints logs, a reorg with the logs that it removed, and new ones for people', async () => {
    await anvil.mine(1)
    const head = (await anvil.blocks()).length - 1
    let replaced = false
    const run = await runWatch(['logs', '--from', String(head)], getGateway(), async (stdout) => {
      if (!replaced && stdout.split('\n').length > 2) {
        replaced = true
        await anvil.send('anvil_rollback', [1])
        await anvil.mine(2)
      }
      return stdout.includes(`${head}:3`)
    })
    expect(run.exitCode).toBe(0)
    const lines = run.stdout.trimEnd().split('\n')
    const contract = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
    expect(lines[0]).toMatch(new RegExp(`^log {4}${head}:0 {2}${contract} {2}0x[\\da-f]{64} {2}tx 0x[\\da-f]{64}$`))
    expect(lines[1]).toMatch(new RegExp(`^log {4}${head}:1 {2}${contract} {2}no topics {2}tx 0x`))
    expect(lines[2]).toMatch(new RegExp(`^reorg {2}back to block ${head - 1} {2}0x[\\da-f]{64}$`))
    expect(lines.slice(3, 5)).toEqual([`  removed  ${lines[1]}`, `  removed  ${lines[0]}`])
    expect(lines.slice(5).map((line) => /^log {4}\d+:(\d+)/.exec(line)?.[1])).toEqual(['0', '1', '2', '3'])
  })
})

describe('keyrail watch', () => {
  test('prints nothing twice if it is stopped while nobody reads its output', async () => {
    const words = ['blocks', '--json', '--from', '0', '--cursor-file', cursorFile]
    const numbers: number[] = []
    const head = (await anvil.blocks()).length - 1
    const stopped = startCli(['watch', ...words], { KEYRAIL_URL: getUrl(withSockets) })
    running = stopped
    stopped.child.stdout?.once('data', () => stopped.child.stdout?.destroy())
    await until('the first events are printed', () => stopped.printed().stdout !== '')
    // It notices that the pipe is closed with the next block.
    await anvil.mine(0)
    expect((await stopped.done).exitCode).toBe(0)
    const collect = (stdout: string): number[] =>
      parseEvents(stdout).map((event) => (event.type === 'block' ? event.block.number : -1))
    numbers.push(...collect(stopped.printed().stdout))
    const resumed = await runWatch(words, withSockets, (stdout) => collect(stdout).includes(head + 1))
    numbers.push(...collect(resumed.stdout))
    expect(numbers).toEqual(Array.from({ length: head + 2 }, (_unused, number) => number))
  })

  test('prints failures and continues, with a position that is saved while it runs', async () => {
    const broken = await startGateway({ testnet: [unreachableUrl] })
    try {
      const { child, printed, done } = (running = startCli(['watch', 'blocks'], { KEYRAIL_URL: getUrl(broken) }))
      await until('a failure is printed', () => /Retrying in \d+ s\.\n/.test(printed().stderr))
      child.kill('SIGTERM')
      expect(await done).toMatchObject({ exitCode: 0, stdout: '' })
    } finally {
      await broken.gateway.close()
    }
    const saved = (): boolean => existsSync(cursorFile) && readFileSync(cursorFile, 'utf8').includes('cursor')
    const run = await runWatch(['blocks', '--cursor-file', cursorFile], withSockets, saved, 'SIGKILL')
    expect(run.exitCode).toBeNull()
  })

  test.each([
    [[], 'keyrail watch takes one argument: blocks or logs'],
    [['transactions'], 'keyrail watch takes one argument: blocks or logs'],
    [['blocks', 'logs'], 'keyrail watch takes one argument: blocks or logs'],
    [['blocks', '--address', `0x${'12'.repeat(20)}`], '--address, --event and --topic are for keyrail watch logs'],
    [['blocks', '--from', 'now'], '--from must be a block'],
    [['logs', '--topic0', '0x12'], '--topic0 must be a topic'],
    [['blocks', '--api-key', 'x'], "keys in arguments stay in the shell's history"],
  ])('%j is invalid usage', async (words, message) => {
    const run = await runHere(['watch', ...words], { KEYRAIL_URL: getUrl(withSockets) })
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toContain(message)
  })

  const logs = { address: [], topics: [] }
  test.each([
    ['something else', 1, 'is not a cursor file of keyrail watch'],
    [{ version: 1, chainId: 5, logs: null, cursor: '' }, 2, 'is of chain 5, but this endpoint serves chain 31337'],
    [{ version: 1, chainId: 31_337, logs, cursor: '' }, 2, 'is of keyrail watch logs'],
  ])('does not touch a cursor file that is not its own: %j', async (content, exitCode, message) => {
    const text = JSON.stringify(content)
    writeFileSync(cursorFile, text)
    const run = await runHere(['watch', 'blocks', '--cursor-file', cursorFile], { KEYRAIL_URL: getUrl(withSockets) })
    expect(run).toMatchObject({ exitCode, stdout: '' })
    expect(run.stderr).toContain(message)
    expect(readFileSync(cursorFile, 'utf8')).toBe(text)
  })

  test('does not resume with another filter, or while another process does', async () => {
    const environment = { KEYRAIL_URL: getUrl(withSockets) }
    writeFileSync(cursorFile, JSON.stringify({ version: 1, chainId: 31_337, logs, cursor: '' }))
    const words = ['watch', 'logs', '--address', `0x${'12'.repeat(20)}`, '--cursor-file', cursorFile]
    expect((await runHere(words, environment)).stderr).toContain('with a different --address, --event or --topic')
    writeFileSync(`${cursorFile}.lock`, '1\n')
    const run = await runHere(words, environment)
    expect(run).toMatchObject({ exitCode: 1 })
    expect(run.stderr).toContain(`process 1 is using ${cursorFile}`)
  })
})
