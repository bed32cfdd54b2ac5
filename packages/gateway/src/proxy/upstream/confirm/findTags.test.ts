import { expect, test } from 'vitest'
import { createMethodPolicy } from '../../method/createMethodPolicy.ts'
import { findTags, replaceTags } from './findTags.ts'

const policy = createMethodPolicy({ debug: false, trace: true, txpool: false })
const blocks = new Map([
  ['latest', 100],
  ['safe', 90],
  ['finalized', 80],
] as const)

test.each([
  ['eth_getBalance', '["0x00","latest"]', '["0x00","0x64"]'],
  ['eth_getBalance', '[ "0x00" , "safe" ]', '[ "0x00" , "0x5a" ]'],
  ['eth_getBalance', '["0x00"]', '["0x00","0x64"]'],
  ['eth_getBalance', '["0x00","pending"]', undefined],
  ['eth_getBalance', '["0x00","0x1"]', undefined],
  ['eth_getBalance', '[]', undefined],
  ['eth_call', '[{"data":"latest"}]', '[{"data":"latest"},"0x64"]'],
  ['eth_call', '[{},{"blockNumber":"finalized"},{}]', '[{},{"blockNumber":"0x50"},{}]'],
  ['eth_call', `[{},{"blockHash":"0x${'1'.repeat(64)}"}]`, undefined],
  ['eth_getProof', '["0x00",[],"latest"]', '["0x00",[],"0x64"]'],
  ['eth_getBlockByNumber', '["finalized",true]', '["0x50",true]'],
  ['trace_call', '[{},["trace"]]', '[{},["trace"],"0x64"]'],
  ['eth_getLogs', '[{}]', '[{"fromBlock":"0x64","toBlock":"0x64"}]'],
  ['eth_getLogs', '[{"address":"0x1"}]', '[{"fromBlock":"0x64","toBlock":"0x64","address":"0x1"}]'],
  ['eth_getLogs', '[{"fromBlock":"0x1"}]', '[{"toBlock":"0x64","fromBlock":"0x1"}]'],
  ['eth_getLogs', '[{"toBlock":"latest","fromBlock":"safe"}]', '[{"toBlock":"0x64","fromBlock":"0x5a"}]'],
  ['eth_getLogs', `[{"blockHash":"0x${'1'.repeat(64)}"}]`, undefined],
  // Nodes may read these differently.
  ['eth_getLogs', '[{"toBlock":"latest","toBlock":"safe"}]', undefined],
  ['eth_getLogs', String.raw`[{"to\u0042lock":"latest"}]`, undefined],
  ['eth_getTransactionReceipt', '["0x00"]', undefined],
  ['eth_gasPrice', '[]', undefined],
])('%s %s', (method, params, pinned) => {
  const traits = policy(method)
  if (traits === undefined) throw new Error(`${method} is offered`)
  const call = { method, params, traits }
  const tags = findTags(call)
  expect(tags.length > 0).toBe(pinned !== undefined)
  expect(replaceTags(call, tags, blocks).params).toBe(pinned ?? params)
})
