import { existsSync, writeFileSync } from 'node:fs'
import { tokenAbi, tokenBytecode } from '@keyrail/contracts'
import { keyrail } from '@keyrail/viem'
import { createPublicClient, createWalletClient, parseEther, publicActions } from 'viem'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getEndpoint } from '../endpoint.ts'
import { getPrivateKey } from '../privateKey.ts'

// Writes the endpoint of `npm start` and a token on its chain to .env.local, for Vite. Without the account of a wallet, it is the token that the
// chain already has, and an existing file is not changed. With one, it deploys a token and transfers its whole supply to the account.
const [visitor] = process.argv.slice(2) as Hex[]
const file = process.env['ENV_FILE'] ?? '.env.local'
if (!visitor && existsSync(file)) process.exit()

const endpoint = getEndpoint()
const transport = keyrail(endpoint)

async function deployToken(owner: Hex): Promise<Hex> {
  const account = privateKeyToAccount(getPrivateKey())
  const client = createWalletClient({ account, transport }).extend(publicActions)
  const supply = 1_000_000n * 10n ** 18n
  const token = { abi: tokenAbi, chain: null }
  const args = ['Keyrail', 'RAIL', supply] as const
  const deployment = await client.deployContract({ ...token, bytecode: tokenBytecode, args })
  const { contractAddress: address } = await client.waitForTransactionReceipt({ hash: deployment })
  if (!address) throw new Error('The token was not deployed')
  await client.writeContract({ ...token, address, functionName: 'transfer', args: [owner, supply] })
  // Pays the fees of the account.
  const hash = await client.sendTransaction({ to: owner, value: parseEther('1'), chain: null })
  await client.waitForTransactionReceipt({ hash })
  return address
}

/** The token that `npm start` deploys on every network. */
const exampleToken = '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'
const token = visitor ? await deployToken(visitor) : exampleToken
const lines = [
  `VITE_KEYRAIL_BASE_URL=${endpoint.baseUrl as string}`,
  `VITE_KEYRAIL_API_KEY=${endpoint.apiKey as string}`,
  `VITE_CHAIN_ID=${await createPublicClient({ transport }).getChainId()}`,
  `VITE_TOKEN=${token}`,
]
writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 })
console.log(
  visitor
    ? `The token is at ${token}. ${visitor} holds its whole supply.`
    : `The token is at ${token}. To own some, add an account that npm start printed to your wallet, or run npm run local -- 0x… with yours.`,
)
