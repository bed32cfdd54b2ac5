import { keyrail } from '@keyrail/viem'
import { BaseError, ContractFunctionRevertedError, createPublicClient, createWalletClient } from 'viem'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil as chain } from 'viem/chains'
import { tokenAbi } from './token.ts'

/** A shop that accepts tokens, with viem. */
export function createViemShop(options: Parameters<typeof keyrail>[0], token: Hex, privateKey: Hex) {
  const transport = keyrail(options)
  const account = privateKeyToAccount(privateKey)
  const reader = createPublicClient({ chain, transport, pollingInterval: 20 })
  const wallet = createWalletClient({ chain, transport, account })

  return {
    async balance(): Promise<string> {
      try {
        const args = [account.address] as const
        return `${await reader.readContract({ abi: tokenAbi, address: token, functionName: 'balanceOf', args })} tokens`
      } catch (error) {
        const failure = error instanceof BaseError ? error.walk((one) => 'failure' in Object(one)) : undefined
        if (Object(failure).failure?.kind === 'quota') return 'The shop is closed until tomorrow.'
        throw error
      }
    },
    async pay(to: Hex, value: bigint): Promise<string> {
      try {
        const { request } = await reader.simulateContract({
          abi: tokenAbi,
          address: token,
          functionName: 'transfer',
          args: [to, value],
          account,
        })
        const receipt = await reader.waitForTransactionReceipt({ hash: await wallet.writeContract(request) })
        return `Paid in block ${receipt.blockNumber}.`
      } catch (error) {
        const found =
          error instanceof BaseError ? error.walk((one) => one instanceof ContractFunctionRevertedError) : null
        const { data } = (found ?? {}) as ContractFunctionRevertedError
        if (data?.errorName === 'InsufficientBalance') return `You have ${String(data.args?.[1])} tokens.`
        throw error
      }
    },
    paid: async (): Promise<bigint[]> => {
      const events = await reader.getContractEvents({
        abi: tokenAbi,
        address: token,
        eventName: 'Transfer',
        fromBlock: 0n,
      })
      return events.map(({ args }) => args.value ?? 0n)
    },
  }
}
