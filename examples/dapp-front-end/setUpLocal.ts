import { writeFileSync } from 'node:fs'
import { tokenAbi, tokenBytecode } from '@keyrail/contracts'
import { keyrail } from '@keyrail/viem'
import { createWalletClient, parseEther, publicActions } from 'viem'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getEndpoint } from '../endpoint.ts'
import { getPrivateKey } from '../privateKey.ts'

// Deploys a token on the chain of `npm start`, transfers its whole supply to the account of a wallet, and writes its address to .env.local for Vite.
const [visitor] = process.argv.slice(2) as Hex[]
if (!visitor) {
  console.error('Pass the account of your wallet: npm run local -- 0x…')
  process.exit(2)
}

const endpoint = getEndpoint()
const account = privateKeyToAccount(getPrivateKey())
const client = createWalletClient({ account, transport: keyrail(endpoint) }).extend(publicActions)

const supply = 1_000_000n * 10n ** 18n
const token = { abi: tokenAbi, chain: null }
const deployment = await client.deployContract({ ...token, bytecode: tokenBytecode, args: ['Keyrail', 'RAIL', supply] })
const { contractAddress } = await client.waitForTransactionReceipt({ hash: deployment })
if (!contractAddress) throw new Error('The token was not deployed')
await client.writeContract({ ...token, address: contractAddress, functionName: 'transfer', args: [visitor, supply] })
// Pays the fees of the account.
const hash = await client.sendTransaction({ to: visitor, value: parseEther('1'), chain: null })
await client.waitForTransactionReceipt({ hash })

const lines = [
  `VITE_KEYRAIL_BASE_URL=${endpoint.baseUrl as string}`,
  `VITE_KEYRAIL_API_KEY=${endpoint.apiKey as string}`,
  `VITE_CHAIN_ID=${await client.getChainId()}`,
  `VITE_TOKEN=${contractAddress}`,
]
writeFileSync(process.env['ENV_FILE'] ?? '.env.local', `${lines.join('\n')}\n`, { mode: 0o600 })
console.log(`The token is at ${contractAddress}. ${visitor} holds its whole supply.`)
