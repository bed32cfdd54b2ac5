import { writeFileSync } from 'node:fs'
import { tokenAbi, tokenBytecode } from '@keyrail/contracts'
import { keyrail } from '@keyrail/viem'
import { createWalletClient, parseEther, publicActions } from 'viem'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { address } from '../address.ts'
import { privateKey } from '../privateKey.ts'

// Puts a token on the chain that `npm start` runs, gives all of it to the account of a wallet, and tells Vite where it is.
const [visitor] = process.argv.slice(2) as Hex[]
if (!visitor) {
  console.error('Name the account of your wallet: npm run local -- 0x…')
  process.exit(2)
}

const at = address()
const account = privateKeyToAccount(privateKey())
const client = createWalletClient({ account, transport: keyrail(at) }).extend(publicActions)

const supply = 1_000_000n * 10n ** 18n
const token = { abi: tokenAbi, chain: null }
const made = await client.deployContract({ ...token, bytecode: tokenBytecode, args: ['Keyrail', 'RAIL', supply] })
const { contractAddress } = await client.waitForTransactionReceipt({ hash: made })
if (!contractAddress) throw new Error('The chain did not take the token')
await client.writeContract({ ...token, address: contractAddress, functionName: 'transfer', args: [visitor, supply] })
// For the fees.
const hash = await client.sendTransaction({ to: visitor, value: parseEther('1'), chain: null })
await client.waitForTransactionReceipt({ hash })

const lines = [
  `VITE_KEYRAIL_BASE_URL=${at.baseUrl as string}`,
  `VITE_KEYRAIL_API_KEY=${at.apiKey as string}`,
  `VITE_CHAIN_ID=${await client.getChainId()}`,
  `VITE_TOKEN=${contractAddress}`,
]
writeFileSync(process.env['ENV_FILE'] ?? '.env.local', `${lines.join('\n')}\n`, { mode: 0o600 })
console.log(`The token is at ${contractAddress}, and ${visitor} has all of it.`)
