import { report } from './report.mjs'

const response = await fetch(process.argv[2], {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
})
const message = await response.json()
if (message.result !== '0x134f2d1') throw new Error('a wrong result')
report()
process.exit()
