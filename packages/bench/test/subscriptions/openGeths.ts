import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTcpProxy } from '@keyrail/gateway/test/startTcpProxy.ts'
import { chainIds } from '@keyrail/gateway/test/startGateway.ts'
import { Wallet } from 'ethers'
import { createToken, post, waitUntil } from '../geth/startGeth.ts'
import { getFreePort } from '@keyrail/gateway/test/getFreePort.ts'
import { contracts } from './chaosChain.ts'
import type { ChaosBlock, ChaosLog } from './chaosChain.ts'
import type { ChaosNode } from './chaosNode.ts'
import type { ChaosNetwork } from './runChaos.ts'

// Real geths: one builds blocks, and two follow its chain by the engine API, as a consensus client leads them.

const wallet = new Wallet(`0x${'11'.repeat(32)}`)
/** Emits a log whose topic is the first word of the input. */
const code = '0x60003560006000a1'
const zeroHash = `0x${'00'.repeat(32)}`
/** Geth builds an empty block at once, and adds transactions in this time, in milliseconds. */
const buildMs = 60

const genesis = {
  config: {
    chainId: chainIds.testnet,
    ...Object.fromEntries(
      [
        'homesteadBlock',
        'eip150Block',
        'eip155Block',
        'eip158Block',
        'byzantiumBlock',
        'constantinopleBlock',
        'petersburgBlock',
        'istanbulBlock',
        'berlinBlock',
        'londonBlock',
        'shanghaiTime',
        'cancunTime',
        'terminalTotalDifficulty',
      ].map((name) => [name, 0]),
    ),
    blobSchedule: { cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 } },
  },
  difficulty: '0x0',
  gasLimit: '0x1c9c380',
  baseFeePerGas: '0x7',
  timestamp: '0x65000000',
  alloc: {
    [wallet.address]: { balance: `0x${(10n ** 24n).toString(16)}` },
    ...Object.fromEntries(contracts.map((address) => [address, { balance: '0x0', code }])),
  },
}

type Payload = Readonly<Record<string, unknown>> & { readonly blockHash: string; readonly timestamp: string }

interface EngineGeth {
  readonly port: number
  readonly call: <Result>(method: string, ...params: readonly unknown[]) => Promise<Result>
  readonly engine: <Result>(method: string, ...params: readonly unknown[]) => Promise<Result>
  readonly stop: () => Promise<void>
}

const startEngineGeth = async (binary: string, folder: string): Promise<EngineGeth> => {
  mkdirSync(folder)
  const file = (name: string): string => join(folder, name)
  const secret = randomBytes(32)
  writeFileSync(file('genesis.json'), JSON.stringify(genesis))
  writeFileSync(file('jwt.hex'), secret.toString('hex'), { mode: 0o600 })
  execFileSync(binary, [`--datadir=${folder}`, 'init', file('genesis.json')], { stdio: 'ignore' })
  const [port, enginePort] = [await getFreePort(), await getFreePort()]
  const listen = (name: string): string[] => [
    `--${name}`,
    `--${name}.addr=127.0.0.1`,
    `--${name}.port=${port}`,
    `--${name}.api=eth,debug,net`,
  ]
  const child = spawn(
    binary,
    [
      `--datadir=${folder}`,
      '--nodiscover',
      '--maxpeers=0',
      '--port=0',
      '--ipcdisable',
      '--miner.gasprice=1',
      // Blocks come by the engine API from the first one on.
      '--syncmode=full',
      // HTTP and WebSocket at one port.
      ...listen('http'),
      ...listen('ws'),
      '--authrpc.addr=127.0.0.1',
      `--authrpc.port=${enginePort}`,
      `--authrpc.jwtsecret=${file('jwt.hex')}`,
    ],
    { stdio: 'ignore' },
  )
  process.once('exit', () => child.kill())
  const ended = once(child, 'exit')
  const send = async <Result>(url: string, method: string, params: readonly unknown[], token?: string) => {
    const text = await post(url, { method, params }, token)
    const { result, error } = JSON.parse(text) as { readonly result: Result; readonly error?: unknown }
    if (error !== undefined) throw new Error(`${method}: ${text}`)
    return result
  }
  const url = `http://127.0.0.1:${port}`
  await waitUntil(async () => (await send<string>(url, 'eth_chainId', [])) !== '')
  return {
    port,
    call: (method, ...params) => send(url, method, params),
    engine: (method, ...params) => send(`http://127.0.0.1:${enginePort}`, method, params, createToken(secret)),
    stop: async () => {
      child.kill()
      await ended
    },
  }
}

const setHead = (geth: EngineGeth, hash: string, attributes: object | null = null) =>
  geth.engine<{ readonly payloadStatus: { readonly status: string }; readonly payloadId: string }>(
    'engine_forkchoiceUpdatedV3',
    { headBlockHash: hash, safeBlockHash: zeroHash, finalizedBlockHash: zeroHash },
    attributes,
  )

/** Gives a geth a block, and checks that it accepts it. */
const addPayload = async (geth: EngineGeth, payload: Payload): Promise<void> => {
  const { status } = await geth.engine<{ status: string }>('engine_newPayloadV3', payload, [], zeroHash)
  if (status !== 'VALID') throw new Error(`geth did not accept a block: ${status}`)
}

/** Starts the chain and its nodes with a geth binary. @param random - Numbers from 0 to 1. */
export const openGeths = async (binary: string, random: () => number): Promise<ChaosNetwork> => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-geths-'))
  const [builder, ...followers] = (await Promise.all(
    ['builder', 'first', 'second'].map((name) => startEngineGeth(binary, join(folder, name))),
  )) as [EngineGeth, EngineGeth, EngineGeth]
  const payloads = new Map<string, Payload>()

  const readBlock = async (number: string): Promise<ChaosBlock> => {
    const block = await builder.call<{ number: string; hash: string; parentHash: string }>(
      'eth_getBlockByNumber',
      number,
      false,
    )
    const logs = await builder.call<ChaosLog[]>('eth_getLogs', { blockHash: block.hash })
    return { ...block, number: Number(block.number), text: '', logs }
  }
  let blocks: readonly ChaosBlock[] = [await readBlock('0x0')]
  let replaced: readonly ChaosBlock[] | undefined

  const sendTransactions = async (): Promise<void> => {
    let nonce = Number(await builder.call<string>('eth_getTransactionCount', wallet.address, 'pending'))
    for (let left = Math.floor(random() * 5); left > 0; left -= 1) {
      const transaction = await wallet.signTransaction({
        chainId: chainIds.testnet,
        nonce,
        to: contracts[Math.floor(random() * contracts.length)] as string,
        data: `0x${(left - 1).toString(16).padStart(64, '0')}`,
        gasLimit: 60_000,
        type: 2,
        maxFeePerGas: 10 ** 9,
        maxPriorityFeePerGas: 1,
      })
      try {
        await builder.call('eth_sendRawTransaction', transaction)
      } catch {
        // The pool has not caught up with the head yet, so the nonce is wrong.
        return
      }
      nonce += 1
    }
  }
  const add = async (): Promise<void> => {
    const parent = blocks.at(-1) as ChaosBlock
    await sendTransactions()
    const before = Number(payloads.get(parent.hash)?.timestamp ?? genesis.timestamp)
    const { payloadId } = await setHead(builder, parent.hash, {
      timestamp: `0x${Math.max(before + 1, Math.floor(Date.now() / 1_000)).toString(16)}`,
      // So that no two blocks are the same.
      prevRandao: `0x${randomBytes(32).toString('hex')}`,
      suggestedFeeRecipient: wallet.address,
      withdrawals: [],
      parentBeaconBlockRoot: zeroHash,
    })
    await sleep(buildMs)
    const { executionPayload } = await builder.engine<{ executionPayload: Payload }>('engine_getPayloadV3', payloadId)
    payloads.set(executionPayload.blockHash, executionPayload)
    await addPayload(builder, executionPayload)
    await setHead(builder, executionPayload.blockHash)
    blocks = [...blocks, await readBlock('latest')]
  }
  const mine = async (count: number): Promise<void> => {
    for (let added = 0; added < count; added += 1) await add()
  }
  await mine(3)

  const startNode = async (geth: EngineGeth): Promise<ChaosNode> => {
    const proxy = await startTcpProxy(geth.port)
    let isKilled = false
    let shown: readonly ChaosBlock[] = []
    let running: Promise<void> = Promise.resolve()
    const show = async (seen: readonly ChaosBlock[]): Promise<void> => {
      const first = seen.findIndex(({ hash }, index) => shown[index]?.hash !== hash)
      for (const { hash } of first === -1 ? [] : seen.slice(Math.max(first, 1)))
        await addPayload(geth, payloads.get(hash) as Payload)
      shown = seen
      await setHead(geth, seen.at(-1)?.hash ?? '')
    }
    const see = (seen: readonly ChaosBlock[]): void => {
      running = running.then(() => show(seen))
    }
    see(blocks)
    await running
    return {
      port: proxy.port,
      see,
      isKilled: () => isKilled,
      kill: () => {
        isKilled = true
        proxy.cut()
      },
      revive: () => {
        isKilled = false
        proxy.fix()
      },
      stop: async () => {
        await running
        await proxy.close()
      },
    }
  }
  const nodes = await Promise.all(followers.map(startNode))
  return {
    chain: {
      blocks: () => blocks,
      mine,
      reorg: async (depth, count) => {
        replaced = blocks
        blocks = blocks.slice(0, -depth)
        // A head that is an ancestor of the present one is ignored by the engine API.
        await builder.call('debug_setHead', `0x${(blocks.length - 1).toString(16)}`)
        await mine(count)
      },
      restore: async () => {
        if (replaced === undefined) return
        const missing = blocks.length - replaced.length
        const first = replaced.findIndex(({ hash }, index) => blocks[index]?.hash !== hash)
        for (const { hash } of replaced.slice(first)) await addPayload(builder, payloads.get(hash) as Payload)
        blocks = replaced
        replaced = undefined
        await setHead(builder, blocks.at(-1)?.hash ?? '')
        await mine(Math.max(0, missing) + 1)
      },
    },
    nodes,
    close: async () => {
      for (const node of nodes) await node.stop()
      for (const geth of [builder, ...followers]) await geth.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
