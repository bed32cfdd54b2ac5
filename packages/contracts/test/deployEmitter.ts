/** A contract on an anvil that emits an empty log each time it is called. */
export interface Emitter {
  readonly address: string
  /** Calls it. Anvil mines the transaction after it has responded. */
  readonly emit: () => Promise<void>
  /** Replaces the last blocks by empty ones. */
  readonly reorganize: (depth: number) => Promise<void>
  /** Returns the hashes of the blocks with its logs, one for each log, from the first one that is given. */
  readonly getLogBlocks: (firstBlockHash: string | undefined) => Promise<string[]>
  readonly getBlockNumber: () => Promise<number>
}

/**
 * Deploys the contract.
 *
 * @param url - The URL of the anvil.
 */
export async function deployEmitter(url: string): Promise<Emitter> {
  const request = async <Result>(method: string, params: readonly unknown[]): Promise<Result> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { result, error } = (await response.json()) as { result: Result; error?: { message: string } }
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }
  const address = `0x${'e1'.repeat(20)}`
  // PUSH0 PUSH0 LOG0.
  await request('anvil_setCode', [address, '0x5f5fa0'])
  const [from] = await request<string[]>('eth_accounts', [])
  return {
    address,
    emit: async () => void (await request('eth_sendTransaction', [{ from, to: address, gas: '0x10000' }])),
    reorganize: async (depth) => void (await request('anvil_reorg', [depth, []])),
    getLogBlocks: async (firstBlockHash) => {
      const logs = await request<{ blockHash: string }[]>('eth_getLogs', [{ address, fromBlock: '0x0' }])
      const hashes = logs.map(({ blockHash }) => blockHash)
      return hashes.slice(Math.max(hashes.indexOf(firstBlockHash ?? ''), 0))
    },
    getBlockNumber: async () => Number(await request('eth_blockNumber', [])),
  }
}
