import { createClient, getBlock } from '@keyrail/fetch'
import { getEndpoint } from '../endpoint.ts'

const client = createClient(getEndpoint())
const block = await getBlock(client)
console.log(`Block ${block?.number} is ${block?.hash}`)
console.log(`Endpoint: ${client.redactedUrl}`)
client.close()
