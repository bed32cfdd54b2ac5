import { startAnvil } from '@keyrail/core/test/startAnvil.ts'

/** A block of anvil, as far as tests need it. */
export interface AnvilBlock {
  readonly hash: string
}

/** An anvil that mines on command. Two that get the same commands have the same blocks. */
export interface ChainAnvil {
  readonly url: string
  readonly send: <Result>(method: string, params?: readonly unknown[]) => Promise<Result>
  /** Mines a block in which a contract emits two logs for each of the calls. */
  readonly mine: (calls: number) => Promise<void>
  /** The blocks from block 0 to the head. */
  readonly blocks: () => Promise<readonly AnvilBlock[]>
  /** The source text of the logs of a block, one by one. */
  readonly logs: (hash: string) => Promise<readonly unknown[]>
  readonly stop: () => Promise<void>
}

/** Logs its input twice: with two topics, and without any. */
const runtime = '6000356000523360aa60206000a260206000a000'
const initCode = `0x60148060093d393df3${runtime}`
const sender = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
/** The address of the sender's first contract. */
const contract = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
const firstTimestamp = 1_700_000_000

const toHex = (value: number): string => `0x${value.toString(16)}`

/** Starts an anvil. Its block 1 creates the contract. */
export const startChainAnvil = async (): Promise<ChainAnvil> => {
  const { url, stop } = await startAnvil('--timestamp', String(firstTimestamp), '--no-mining')
  let calls = 0
  const send = async <Result>(method: string, params: readonly unknown[] = []): Promise<Result> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result: Result; error?: unknown }
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }
  const transact = (transaction: { readonly to?: string; readonly data: string }): Promise<unknown> =>
    send('eth_sendTransaction', [
      { from: sender, gas: '0x30d40', maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x1', ...transaction },
    ])
  const mineBlock = async (): Promise<void> => {
    const head = await send<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
    await send('evm_setNextBlockTimestamp', [Number(head.timestamp) + 1])
    await send('anvil_mine', ['0x1'])
  }
  await transact({ data: initCode })
  await mineBlock()
  return {
    url,
    send,
    mine: async (count) => {
      for (let index = 0; index < count; index += 1) {
        calls += 1
        await transact({ to: contract, data: `0x${calls.toString(16).padStart(64, '0')}` })
      }
      await mineBlock()
    },
    blocks: async () => {
      const head = Number(await send<string>('eth_blockNumber'))
      const numbers = Array.from({ length: head + 1 }, (_, index) => toHex(index))
      return Promise.all(numbers.map((number) => send<AnvilBlock>('eth_getBlockByNumber', [number, false])))
    },
    logs: (blockHash) => send('eth_getLogs', [{ blockHash }]),
    stop,
  }
}
