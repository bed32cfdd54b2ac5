import { createClient, getBlock, isKeyrailError } from '@keyrail/fetch'
import { sumTransfers } from './sumTransfers.ts'

/** The token that `keyrail dev` deploys on every network. */
const token = '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'

const { KEYRAIL_BASE_URL = '', KEYRAIL_API_KEY = '', KEYRAIL_CHAIN_ID } = process.env
const client = createClient({
  baseUrl: KEYRAIL_BASE_URL,
  apiKey: KEYRAIL_API_KEY,
  chainId: Number(KEYRAIL_CHAIN_ID),
})
try {
  const block = await getBlock(client)
  console.log(`Block ${block?.number} at ${client.redactedUrl}`)
  const { transfers, amount } = await sumTransfers(client, token)
  console.log(`${transfers} transfers of ${amount / 10n ** 18n} tokens`)
} catch (error) {
  if (!isKeyrailError(error)) throw error
  console.error(`${error.kind}: ${error.message}`)
  process.exitCode = 1
} finally {
  client.close()
}
