import { KeyrailProvider } from '@keyrail/ethers'
import { Contract, isError, Wallet } from 'ethers'
import type { TransactionResponse } from 'ethers'
import { tokenAbi } from './token.ts'

/** The same shop, with ethers. */
export function createEthersShop(
  options: ConstructorParameters<typeof KeyrailProvider>[0],
  token: string,
  privateKey: string,
) {
  const provider = new KeyrailProvider(options)
  provider.pollingInterval = 20
  const wallet = new Wallet(privateKey, provider)
  const tokens = new Contract(token, tokenAbi, wallet)

  return {
    async balance(): Promise<string> {
      try {
        return `${String(await tokens.getFunction('balanceOf')(wallet.address))} tokens`
      } catch (error) {
        if (Object(error).failure?.kind === 'quota') return 'The shop is closed until tomorrow.'
        throw error
      }
    },
    async pay(to: string, value: bigint): Promise<string> {
      try {
        // ethers decodes contract errors of calls, but not of gas estimates.
        await tokens.getFunction('transfer').staticCall(to, value)
        const sent = (await tokens.getFunction('transfer')(to, value)) as TransactionResponse
        return `Paid in block ${(await sent.wait())?.blockNumber}.`
      } catch (error) {
        if (isError(error, 'CALL_EXCEPTION') && error.revert?.name === 'InsufficientBalance') {
          return `You have ${String(error.revert.args[1])} tokens.`
        }
        throw error
      }
    },
    paid: async (): Promise<bigint[]> =>
      (await tokens.queryFilter('Transfer', 0)).map((event) => ('args' in event ? (event.args[2] as bigint) : 0n)),
    close: (): void => provider.destroy(),
  }
}
