import { callNode } from './callNode.ts'
import { tokenCode, transferCall } from './exampleToken.ts'
import { fundedAccounts } from './fundedAccounts.ts'

/** The block time, in seconds. */
export const blockSeconds = 12

const roundBlocks = 4

/** How many blocks {@link seedChain} mines: two, plus four per round. */
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
 * Seeds a new node with example data for reads, receipts, logs and reverts.
 * Block 1 contains a payment, block 2 deploys the example token. Each round adds four blocks: three transactions with two `Transfer` logs, a payment,
 * an empty block, and a transaction that the token reverts.
 * Blocks are `blockSeconds` apart. Afterwards, the node uses the real time.
 *
 * @param url - The URL of the node.
 * @param rounds - The number of rounds.
 * @param options - `isFork`: whether the node continues another chain. Then the blocks have the node's own times, and no payment is first.
 * @returns The token's address.
 * @throws {Error} if the node rejects a call.
 */
export async function seedChain(
  url: string,
  rounds: number,
  { isFork = false }: { readonly isFork?: boolean } = {},
): Promise<string> {
  const [creator = '', first = '', second = '', poor = ''] = fundedAccounts.map(({ address }) => address)
  if (isFork) {
    // On public networks, bots made these accounts contracts that forward their funds (EIP-7702).
    for (const { address } of fundedAccounts) await callNode(url, 'anvil_setCode', [address, '0x'])
  } else {
    await callNode(url, 'anvil_setBlockTimestampInterval', [blockSeconds])
  }
  await callNode(url, 'evm_setAutomine', [false])

  /** Mines one block of these transactions. The gas is fixed, because it cannot be estimated on pending state. */
  const mine = async (...transactions: readonly SeedTransaction[]): Promise<string | undefined> => {
    let hash: unknown
    for (const transaction of transactions) {
      hash = await callNode(url, 'eth_sendTransaction', [{ gas: '0x1e8480', ...transaction }])
    }
    await callNode(url, 'evm_mine')
    if (hash === undefined) return undefined
    const receipt = (await callNode(url, 'eth_getTransactionReceipt', [hash])) as Record<string, unknown> | null
    if (!receipt) throw new Error('the node did not mine the transaction')
    return typeof receipt['contractAddress'] === 'string' ? receipt['contractAddress'] : undefined
  }

  if (!isFork) await mine({ from: creator, to: first, value: ether(1) })
  const token = await mine({ from: creator, data: tokenCode })
  if (token === undefined) throw new Error('the node did not deploy the token')
  for (let round = 1; round <= rounds; round++) {
    await mine(
      { from: creator, to: token, data: transferCall(first, 100 * round) },
      { from: creator, to: token, data: transferCall(second, 50 * round) },
      { from: first, to: second, value: ether(1) },
    )
    await mine({ from: second, to: creator, value: ether(2) })
    await mine()
    await mine({ from: poor, to: token, data: transferCall(creator, 1) })
  }

  if (!isFork) {
    await callNode(url, 'anvil_removeBlockTimestampInterval')
    await callNode(url, 'evm_setTime', [Math.floor(Date.now() / 1_000)])
  }
  await callNode(url, 'evm_setAutomine', [true])
  return token
}
