/** The smallest useful program: the latest block through the small door. What it weighs is what the packages promise. */
export const smallDoor = `
import { compose, deadline, http, retry } from '@keyrail/core'
import { clientOf } from '@keyrail/fetch'

const client = clientOf(compose(http({ url: 'https://node.example/testnet' }), retry(), deadline()))
client.eth_getBlockByNumber('latest', false).then((block) => console.log(block?.number, block?.hash))
`

/** The same through the full door. */
export const fullDoor = `
import { createClient } from '@keyrail/fetch'

const client = createClient({ url: 'https://node.example/testnet' })
client.eth_getBlockByNumber('latest', false).then((block) => console.log(block?.number, block?.hash))
`
