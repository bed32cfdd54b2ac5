import { keyrail } from '@keyrail/viem'
import { createPublicClient } from 'viem'
import { getEndpoint } from '../endpoint.ts'

const client = createPublicClient({ transport: keyrail(getEndpoint()) })
const block = await client.getBlock()
console.log(`Block ${block.number} is ${block.hash}`)
console.log(`Endpoint: ${client.transport.redactedUrl}`)
