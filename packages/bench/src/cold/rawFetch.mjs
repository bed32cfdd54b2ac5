import { report } from './report.mjs'

const response = await fetch(process.argv[2], {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
})
const answer = await response.json()
if (answer.result !== '0x134f2d1') throw new Error('a wrong answer')
report()
process.exit()
