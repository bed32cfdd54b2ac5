import { report } from '../src/cold/report.mjs'
import { load } from './load.mjs'

const { Web3 } = await load('web3')
const { provider } = new Web3(process.argv[2])
const response = await provider.request({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
if (response.result !== '0x134f2d1') throw new Error('a wrong response')
report()
process.exit()
