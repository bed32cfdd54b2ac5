import { report } from '../src/cold/report.mjs'
import { load } from './load.mjs'

const { createPublicClient, http } = await load('viem')
const client = createPublicClient({ transport: http(process.argv[2]) })
if ((await client.request({ method: 'eth_blockNumber' })) !== '0x134f2d1') throw new Error('a wrong result')
report()
process.exit()
