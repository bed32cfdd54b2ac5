import { keyrail } from '@keyrail/viem'
import { createPublicClient } from 'viem'

const client = createPublicClient({ transport: keyrail({ url: process.argv[2] }) })
const number = await client.getBlockNumber()
const block = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })

console.log(JSON.stringify({ number: `0x${number.toString(16)}`, hash: block.hash }))
