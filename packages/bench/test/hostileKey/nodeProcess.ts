import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { blockMs, burn, hot, logsPerBlock, toWord } from './chain.ts'

// A node with a block each second, as a process of its own. It sends its URL to its parent.

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

const startedAt = Date.now()
const getHead = (): number => 100 + Math.floor((Date.now() - startedAt) / blockMs)
const quantity = (value: number): string => `0x${value.toString(16)}`

const toBlock = (number: number): object | null =>
  number > getHead()
    ? null
    : {
        number: quantity(number),
        hash: toWord(number),
        parentHash: toWord(number - 1),
        timestamp: quantity(Math.floor(startedAt / 1_000) + number),
        logsBloom: `0x${'f'.repeat(512)}`,
        transactions: [],
      }
const toLogs = (number: number): readonly object[] =>
  Array.from({ length: logsPerBlock }, (_, index) => ({
    address: hot,
    topics: [burn, toWord(index), toWord(number)],
    data: `0x${'00'.repeat(64)}`,
    blockNumber: quantity(number),
    blockHash: toWord(number),
    transactionHash: toWord(index),
    logIndex: quantity(index),
    removed: false,
  }))

let lastPending = 1_000_000
const getResult = ({ method, params: [first] }: Call): unknown => {
  switch (method) {
    case 'eth_chainId':
      return quantity(31_337)
    case 'eth_syncing':
      return false
    case 'eth_blockNumber':
      return quantity(getHead())
    case 'eth_getBlockByNumber':
      return toBlock(typeof first === 'string' && first.startsWith('0x') ? Number(first) : getHead())
    case 'eth_getBlockByHash':
      return toBlock(Number(first))
    case 'eth_getLogs':
      return toLogs(Number((first as { readonly blockHash: string }).blockHash))
    case 'eth_newPendingTransactionFilter':
      return '0x1'
    case 'eth_getFilterChanges':
      return Array.from({ length: 450 }, () => toWord((lastPending += 1)))
    case 'eth_getTransactionByHash':
      return { hash: first, input: `0x${'00'.repeat(500)}` }
    default:
      return '0x1'
  }
}
/** An expensive call takes 25 seconds. */
const getDelayMs = ({ method }: Call): number => (method === 'eth_createAccessList' ? 25_000 : 0)

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const read = JSON.parse(Buffer.concat(chunks).toString()) as Call | readonly Call[]
    const calls = Array.isArray(read) ? (read as readonly Call[]) : [read as Call]
    const responses = calls.map((call) => ({ jsonrpc: '2.0', id: call.id, result: getResult(call) }))
    const respond = (): void => {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(Array.isArray(read) ? responses : responses[0]))
    }
    setTimeout(respond, Math.max(...calls.map(getDelayMs)))
  })
})
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
