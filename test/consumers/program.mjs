import { createTransport } from '@keyrail/core'
import { createClient } from '@keyrail/fetch'

const url = process.argv[2]
const client = createClient({ url })
const block = await client.eth_getBlockByNumber('latest', false)
client.close()

const transport = createTransport({ url })
const number = await createClient(transport).eth_blockNumber()
transport.close()

console.log(JSON.stringify({ number, hash: block.hash }))
