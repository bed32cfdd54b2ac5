import { createClient } from '@keyrail/fetch'
import { report } from './report.mjs'

const client = createClient({ url: process.argv[2] })
if ((await client.eth_blockNumber()) !== '0x134f2d1') throw new Error('a wrong result')
report()
