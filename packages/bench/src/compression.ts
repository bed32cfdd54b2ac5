import { createHash } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { formatTable } from './formatTable.ts'

// `node packages/bench/src/compression.ts`: what compressing a response costs, and what it saves, by coding and level. The bodies are generated, with
// as much that repeats as in those of mainnet: hashes are random, addresses and topics come from a pool. The gateway uses gzip 1 and brotli 1
// (`packages/gateway/src/proxy/http/compress.ts`).

let hashes = 0
const createHex = (bytes: number): string => {
  let hex = ''
  while (hex.length < bytes * 2)
    hex += createHash('sha256')
      .update(`${(hashes += 1)}`)
      .digest('hex')
  return `0x${hex.slice(0, bytes * 2)}`
}
let state = 1
/** A whole number from 0 to below `end`, the same in each run. */
const pick = (end: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * end)
}
const toHex = (value: number): string => `0x${value.toString(16)}`
const toWord = (hex: string): string => `0x${hex.slice(2).padStart(64, '0')}`

const addresses = Array.from({ length: 2_000 }, () => createHex(20))
const topics = Array.from({ length: 40 }, () => createHex(32))
/** Low indexes are more frequent, as some contracts are. */
const pickFrom = (values: readonly string[]): string => values[Math.min(pick(values.length), pick(values.length))] ?? ''
const pickAmount = (): string => toWord(toHex(pick(2 ** 50)))

const createLogs = (count: number): object[] => {
  let [blockHash, transactionHash] = ['', '']
  return Array.from({ length: count }, (_, index) => {
    if (index % 300 === 0) blockHash = createHex(32)
    if (index % 3 === 0) transactionHash = createHex(32)
    return {
      address: pickFrom(addresses),
      topics: [pickFrom(topics), toWord(pickFrom(addresses)), toWord(pickFrom(addresses))],
      data: pickAmount(),
      blockNumber: toHex(21_000_000 + Math.floor(index / 300)),
      blockHash,
      transactionHash,
      transactionIndex: toHex(Math.floor((index % 300) / 3)),
      logIndex: toHex(index % 300),
      removed: false,
    }
  })
}
const createTransaction = (): object => ({
  type: '0x2',
  chainId: '0x1',
  hash: createHex(32),
  from: pickFrom(addresses),
  to: pickFrom(addresses),
  nonce: toHex(pick(10_000)),
  gas: toHex(pick(500_000)),
  maxFeePerGas: toHex(pick(2 ** 35)),
  maxPriorityFeePerGas: toHex(pick(2 ** 31)),
  value: toHex(pick(2 ** 50)),
  input: createHex(4) + toWord(pickFrom(addresses)).slice(2) + pickAmount().slice(2),
  accessList: [],
  r: createHex(32),
  s: createHex(32),
})
const header = { hash: createHex(32), parentHash: createHex(32), stateRoot: createHex(32), logsBloom: createHex(256) }

const bodies: Readonly<Record<string, unknown>> = {
  'a receipt': { blockHash: createHex(32), logsBloom: `0x${'0'.repeat(512)}`, logs: createLogs(1) },
  'a block with hashes': { ...header, transactions: Array.from({ length: 245 }, () => createHex(32)) },
  'a full block': { ...header, transactions: Array.from({ length: 270 }, createTransaction) },
  eth_getLogs: createLogs(34_000),
}

const codings: Readonly<Record<string, (body: Buffer) => Buffer>> = Object.fromEntries([
  ...[1, 6].map((level) => [`gzip ${level}`, (body: Buffer) => gzipSync(body, { level })] as const),
  ...[0, 1, 4].map((level) => {
    const params = { [constants.BROTLI_PARAM_QUALITY]: level, [constants.BROTLI_PARAM_LGWIN]: 18 }
    return [`brotli ${level}`, (body: Buffer) => brotliCompressSync(body, { params })] as const
  }),
])

const measureMs = (work: () => unknown, bytes: number): number => {
  const runs = Math.max(3, Math.ceil(20_000_000 / bytes))
  work()
  const before = process.cpuUsage()
  for (let run = 0; run < runs; run += 1) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / runs
}

const rows = Object.entries(bodies).flatMap(([name, result]) => {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
  return Object.entries(codings).map(([coding, compress]) => {
    const ms = measureMs(() => compress(body), body.length)
    return [name, coding, String(body.length), String(compress(body).length), ms.toFixed(3)]
  })
})
process.stdout.write(`${formatTable(['body', 'coding', 'bytes', 'compressed', 'CPU ms'], rows)}\n`)
