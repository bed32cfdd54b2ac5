import { createClient, getBlock } from '@keyrail/fetch'
import { address } from '../address.ts'

const client = createClient(address())
const block = await getBlock(client)
console.log(`Block ${block?.number} is ${block?.hash}`)
console.log(`Asked at ${client.redactedUrl}`)
client.close()
