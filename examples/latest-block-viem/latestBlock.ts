import { keyrail } from '@keyrail/viem'
import { createPublicClient } from 'viem'
import { address } from '../address.ts'

const client = createPublicClient({ transport: keyrail(address()) })
const block = await client.getBlock()
console.log(`Block ${block.number} is ${block.hash}`)
console.log(`Asked at ${client.transport.redactedUrl}`)
