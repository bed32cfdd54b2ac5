import { erc20Abi } from 'viem'

/** The token that `keyrail dev` deploys on every network. */
export const token = { address: '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512', abi: erc20Abi } as const

/** Its owner: the first account of `keyrail dev`. */
export const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
