import { callNode } from './callNode.ts'
import { tokenCode, transferCall } from './exampleToken.ts'

/** A chain looks alive with blocks this far apart, in seconds. */
export const blockEverySeconds = 12

const roundBlocks = 4

/** How many blocks {@link seedChain} mines: two, and four a round. */
export function countSeededBlocks(rounds: number): number {
  return 2 + roundBlocks * rounds
}

interface SeedTransaction {
  readonly from: string
  readonly to?: string
  readonly value?: string
  readonly data?: string
}

const ether = (amount: number): string => `0x${(BigInt(amount) * 10n ** 18n).toString(16)}`

/**
 * Fills a fresh node, so that reads, receipts, logs and reverts have something to show.
 * Block 1 holds a payment, block 2 the making of a small token; each round adds a block of three transactions with two
 * `Transfer` logs, a payment, an empty block and a transaction that the token rejected.
 * The first block is `blockEverySeconds` after block 0, and so on; afterwards the node's clock is the real one.
 *
 * @param url - The node itself.
 * @param rounds - How often to do the same again.
 * @returns The token's address.
 * @throws {Error} where the node does not do as asked.
 */
export async function seedChain(url: string, rounds: number): Promise<string> {
  const accounts = (await callNode(url, 'eth_accounts')) as readonly string[]
  const [maker, first, second, poor] = accounts
  if (!maker || !first || !second || !poor) throw new Error('the node has too few accounts')
  await callNode(url, 'anvil_setBlockTimestampInterval', [blockEverySeconds])
  await callNode(url, 'evm_setAutomine', [false])

  /** Mines one block of these transactions. The gas is given, because nothing can be estimated on what is not mined yet. */
  const mine = async (...transactions: readonly SeedTransaction[]): Promise<string | undefined> => {
    let hash: unknown
    for (const transaction of transactions) {
      hash = await callNode(url, 'eth_sendTransaction', [{ gas: '0x30d40', ...transaction }])
    }
    await callNode(url, 'evm_mine')
    if (hash === undefined) return undefined
    const receipt = (await callNode(url, 'eth_getTransactionReceipt', [hash])) as Record<string, unknown> | null
    if (!receipt) throw new Error('the node did not mine what it was sent')
    return typeof receipt['contractAddress'] === 'string' ? receipt['contractAddress'] : undefined
  }

  await mine({ from: maker, to: first, value: ether(1) })
  const token = await mine({ from: maker, data: tokenCode })
  if (token === undefined) throw new Error('the node did not make the token')
  for (let round = 1; round <= rounds; round++) {
    await mine(
      { from: maker, to: token, data: transferCall(first, 100 * round) },
      { from: maker, to: token, data: transferCall(second, 50 * round) },
      { from: first, to: second, value: ether(1) },
    )
    await mine({ from: second, to: maker, value: ether(2) })
    await mine()
    await mine({ from: poor, to: token, data: transferCall(maker, 1) })
  }

  await callNode(url, 'anvil_removeBlockTimestampInterval')
  await callNode(url, 'evm_setTime', [Math.floor(Date.now() / 1_000)])
  await callNode(url, 'evm_setAutomine', [true])
  return token
}
