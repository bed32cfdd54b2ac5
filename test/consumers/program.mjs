import { compose, deadline, http, retry } from '@keyrail/core'
import { clientOf, createClient } from '@keyrail/fetch'

const url = process.argv[2]
const client = createClient({ url })
const block = await client.eth_getBlockByNumber('latest', false)
client.close()

const small = clientOf(compose(http({ url }), retry(), deadline()))
const number = await small.eth_blockNumber()
small.close()

console.log(JSON.stringify({ number, hash: block.hash }))
