import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBlock } from '@keyrail/gateway/test/subscription/scriptedChainNodes.ts'
import type { ChaosBlock } from './chaosChain.ts'
import { startChaosNode } from './chaosNode.ts'
import type { SocketUsage } from './socketTarget.ts'

// Run by measureFigures, or by hand: `node --expose-gc --conditions=@keyrail/source packages/bench/test/subscriptions/measureSockets.ts 1 plain`.
// Blocks to 5,000 connections. The node is in this process, the gateway and the clients have their own.

const connections = 5_000
const clientProcesses = 2
/** Connections before the first measurement of memory: code and buffers are loaded then. */
const warmUpConnections = 200
const warmUpBlocks = 5
/** The queries for usage and the poll of the node end before the block, and the delivery before the next query. */
const restMs = 300

const readClock = (): number => Number(process.hrtime.bigint()) / 1e6

const [, , rounds = '1', security = 'plain'] = process.argv
const children: ChildProcess[] = []
const start = (program: string, ...args: string[]): ChildProcess => {
  const child = fork(new URL(program, import.meta.url), args, {
    execArgv: ['--expose-gc', '--conditions=@keyrail/source'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  child.once('exit', (code) => {
    if (!isOver) throw new Error(`${program} ended with ${code}`)
  })
  children.push(child)
  return child
}
let isOver = false
const next = async <Message>(child: ChildProcess): Promise<Message> => ((await once(child, 'message')) as [Message])[0]

/** What a block of geth has and that of a scripted chain lacks: 200 transactions, and further hashes. */
const more = [
  ...['stateRoot', 'transactionsRoot', 'receiptsRoot', 'sha3Uncles', 'withdrawalsRoot', 'mixHash', 'requestsHash'].map(
    (name, index) => `"${name}":"0x${String(index).repeat(64)}"`,
  ),
  '"miner":"0x95222290dd7278aa3ddd389cc1e1d165cc4bafe5","gasLimit":"0x2255100","gasUsed":"0x1110000"',
].join(',')
const transactions = Array.from({ length: 200 }, (_, index) => `"0x${index.toString(16).padStart(64, '0')}"`).join(',')
let blocks: readonly ChaosBlock[] = []
const mine = (): void => {
  const block = createBlock(blocks.at(-1) as unknown as Parameters<typeof createBlock>[0], {
    logCount: 0,
    timestamp: Math.floor(Date.now() / 1_000),
  })
  const text = block.text.replace('"transactions":[]', `${more},"transactions":[${transactions}]`)
  blocks = [...blocks, { ...block, text, logs: [] }]
}
mine()

try {
  const node = await startChaosNode(blocks)
  const target = start('socketTarget.ts', String(node.port), security)
  const url = await next<string>(target)
  const getUsage = async (message: 'collect' | 'report'): Promise<SocketUsage> => {
    const usage = next<SocketUsage>(target)
    target.send(message)
    return usage
  }
  const openClients = async (count: number, to: string): Promise<ChildProcess> => {
    const clients = start('socketClients.ts', to, String(count))
    await next(clients)
    return clients
  }
  const openAllClients = (to: string): Promise<ChildProcess[]> =>
    Promise.all(Array.from({ length: clientProcesses }, () => openClients(connections / clientProcesses, to)))
  /** Shows the block to the node. @returns When the last connection of all clients has it, in milliseconds. */
  const sendBlock = async (clients: readonly ChildProcess[]): Promise<number> => {
    mine()
    const received = Promise.all(clients.map((one) => next<number>(one)))
    const shownAt = readClock()
    node.see(blocks)
    return Math.max(...(await received)) - shownAt
  }

  const warmUp = await openClients(warmUpConnections, url)
  for (let block = 0; block < warmUpBlocks; block += 1) await sendBlock([warmUp])
  await sleep(1_000)
  const before = await getUsage('collect')
  const clients = [warmUp, ...(await openAllClients(url))]
  for (let block = 0; block < warmUpBlocks; block += 1) await sendBlock(clients)
  await sleep(1_000)
  const held = await getUsage('report')
  const live = await getUsage('collect')

  const bare = start('bareSockets.ts')
  const bareUrl = await next<string>(bare)
  const bareClients = [await openClients(warmUpConnections, bareUrl), ...(await openAllClients(bareUrl))]
  const getBareCpu = async (): Promise<number> => {
    const cpu = next<number>(bare)
    bare.send('report')
    return cpu
  }
  /** Sends the newest block as a notification. @returns The CPU that it took, in milliseconds. */
  const sendBare = async (): Promise<number> => {
    const { transactions: _, ...result } = JSON.parse(blocks.at(-1)?.text ?? '') as Record<string, unknown>
    const params = { subscription: `0x${'0'.repeat(32)}`, result }
    const before = await getBareCpu()
    const received = Promise.all(bareClients.map((one) => next<number>(one)))
    bare.send({ send: JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }) })
    await received
    await sleep(restMs)
    return (await getBareCpu()) - before
  }
  for (let block = 0; block < warmUpBlocks; block += 1) await sendBare()

  const figures = {
    memory: [live.rssMb - before.rssMb],
    held: [held.rssMb - before.rssMb],
    last: [] as number[],
    cpu: [] as number[],
    bare: [] as number[],
    ratio: [] as number[],
    stall: [] as number[],
  }
  for (let round = 0; round < Number(rounds); round += 1) {
    await sleep(restMs)
    const { cpuMs } = await getUsage('report')
    await sleep(restMs)
    const idle = await getUsage('report')
    const lastMs = await sendBlock(clients)
    await sleep(restMs)
    const used = await getUsage('report')
    figures.last.push(lastMs)
    // What it does without a block as well is not the block's.
    const blockMs = used.cpuMs - idle.cpuMs - (idle.cpuMs - cpuMs)
    const bareMs = await sendBare()
    figures.cpu.push(blockMs)
    figures.bare.push(bareMs)
    figures.ratio.push(blockMs / bareMs)
    figures.stall.push(used.stallMs)
  }
  process.stdout.write(JSON.stringify(figures))
} finally {
  isOver = true
  for (const child of children) if (child.connected) child.disconnect()
}
process.exit()
