import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createClient, iterateLogs } from '@keyrail/fetch'
import type { Hex, LogCursor } from '@keyrail/fetch'
import { getEndpoint } from '../endpoint.ts'

const { values } = parseArgs({
  options: {
    // The token that `npm start` deploys on its chains.
    token: { type: 'string', default: '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512' },
    from: { type: 'string', default: '0' },
    // Reads up to the latest block, which can still be replaced. By default it reads up to the finalized block.
    latest: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
})
const { token, from: fromBlock, latest, out = `${token}.ndjson` } = values

const client = createClient(getEndpoint())
const transfers = iterateLogs(client, {
  address: token as Hex,
  // keccak256('Transfer(address,address,uint256)')
  topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'],
  fromBlock: BigInt(fromBlock),
  toBlock: latest ? 'latest' : 'finalized',
  cursor: readCursor(out),
  onProgress: ({ blocksDone, blocksTotal, logs }) =>
    console.error(`${blocksDone} of ${blocksTotal} blocks, ${logs} transfers`),
})
for await (const { blockNumber, logIndex, transactionHash, topics, data } of transfers) {
  const [from, to] = topics.slice(1).map((topic) => `0x${topic.slice(-40)}`)
  const line = {
    block: Number(blockNumber),
    index: logIndex,
    transaction: transactionHash,
    from,
    to,
    value: String(BigInt(data)),
  }
  appendFileSync(out, `${JSON.stringify(line)}\n`)
}
client.close()

/** Reads where to continue from the last complete line of the file, so that no transfer is written twice. */
function readCursor(file: string): LogCursor | undefined {
  if (!existsSync(file)) return undefined
  const bytes = readFileSync(file)
  const end = bytes.lastIndexOf('\n') + 1
  truncateSync(file, end)
  if (end === 0) return undefined
  const last = bytes.subarray(bytes.lastIndexOf('\n', end - 2) + 1, end).toString()
  const { block, index } = JSON.parse(last) as { block: number; index: number }
  return { nextBlock: block, nextLogIndex: index + 1 }
}
