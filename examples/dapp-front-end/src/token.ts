import { createWalletClient, custom, parseAbi } from 'viem'
import type { Address, EIP1193Provider, Hash } from 'viem'
import { chain, reader } from './chain.ts'

const token = {
  address: import.meta.env.VITE_TOKEN,
  abi: parseAbi([
    'function symbol() view returns (string)',
    'function decimals() view returns (uint8)',
    'function balanceOf(address owner) view returns (uint256)',
    'function transfer(address to, uint256 value) returns (bool)',
    'error InsufficientBalance(address owner, uint256 balance, uint256 needed)',
  ]),
}

/** The token balance of an account. */
export interface Holding {
  readonly balance: bigint
  readonly decimals: number
  readonly symbol: string
}

/** Reads the token balance of an account, in one request. */
export async function readHolding(owner: Address): Promise<Holding> {
  const [balance, decimals, symbol] = await Promise.all([
    reader.readContract({ ...token, functionName: 'balanceOf', args: [owner] }),
    reader.readContract({ ...token, functionName: 'decimals' }),
    reader.readContract({ ...token, functionName: 'symbol' }),
  ])
  return { balance, decimals, symbol }
}

/** A transfer to send. */
export interface Transfer {
  readonly account: Address
  readonly to: Address
  readonly value: bigint
}

/** Simulates a transfer on the node, then lets the wallet sign and send it, so that nobody pays for a transfer that would fail. */
export async function sendTokens(provider: EIP1193Provider, { account, to, value }: Transfer): Promise<Hash> {
  const wallet = createWalletClient({ chain, account, transport: custom(provider) })
  const { request } = await reader.simulateContract({ ...token, account, functionName: 'transfer', args: [to, value] })
  await wallet.switchChain({ id: chain.id })
  return wallet.writeContract(request)
}

/** Waits until a transfer is in a block. @returns Whether it succeeded. */
export async function waitForTransfer(hash: Hash): Promise<boolean> {
  const { status } = await reader.waitForTransactionReceipt({ hash })
  return status === 'success'
}
