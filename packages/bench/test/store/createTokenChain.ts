import { createHash } from 'node:crypto'
import { matches, toAddress } from '@keyrail/gateway/test/chainStore/modelChain.ts'
import type { ModelChain, ModelLog } from '@keyrail/gateway/test/chainStore/modelChain.ts'
import type { Random } from '@keyrail/gateway/test/chainStore/storeFuzz.ts'
import { keccak256 } from 'viem'

/** A chain with transfers of tokens, each in a transaction of its own, with every member that nodes send. */
export interface TokenChain extends Pick<ModelChain, 'getLogs' | 'getBlock'> {
  /** The result of `eth_getBlockReceipts`. */
  readonly getReceipts: (number: number) => string
  /** The number of a block by its hash. */
  readonly getNumber: (hash: string) => number | undefined
  /** The logs of some tokens, and the sum of their amounts. */
  readonly count: (tokens: readonly string[]) => { readonly logs: number; readonly amount: number }
  readonly blocks: number
}

/** `Transfer(address,address,uint256)` */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const bloomBytes = 256

const toHex = (value: number): string => `0x${value.toString(16)}`
const toHash = (text: string): string => `0x${createHash('sha256').update(text).digest('hex')}`
const toTopic = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`

/** @see Yellow paper, section 4.4.3 */
const toBloom = (logs: readonly ModelLog[]): string => {
  const bloom = Buffer.alloc(bloomBytes)
  for (const value of logs.flatMap(({ address, topics }) => [address, ...topics])) {
    const hash = keccak256(value as `0x${string}`, 'bytes')
    for (const at of [0, 2, 4]) {
      const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & (bloomBytes * 8 - 1)
      const byte = bloomBytes - 1 - (bit >> 3)
      bloom.writeUInt8(bloom.readUInt8(byte) | (1 << (bit & 7)), byte)
    }
  }
  return `0x${bloom.toString('hex')}`
}

/** The members that are the same everywhere. */
const word = toHash('')
/** The root of a trie without values. */
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const blockMembers = {
  nonce: '0x0000000000000000',
  miner: word.slice(0, 42),
  sha3Uncles: word,
  stateRoot: word,
  receiptsRoot: word,
  mixHash: word,
  difficulty: '0x0',
  extraData: '0x',
  size: '0x400',
  gasLimit: '0x1c9c380',
  gasUsed: '0x5208',
  baseFeePerGas: '0x7',
  uncles: [],
}
const transactionMembers = {
  type: '0x2',
  nonce: '0x0',
  gas: '0x5208',
  gasPrice: '0x7',
  maxFeePerGas: '0x7',
  maxPriorityFeePerGas: '0x0',
  value: '0x0',
  input: '0x',
  accessList: [],
  r: word,
  s: word,
  v: '0x0',
}
const receiptMembers = {
  type: '0x2',
  contractAddress: null,
  cumulativeGasUsed: '0x5208',
  gasUsed: '0x5208',
  effectiveGasPrice: '0x7',
}

/**
 * Creates a chain.
 * @param options.densities - In which share of the blocks each token has a transfer.
 */
export const createTokenChain = (
  random: Random,
  { blocks, tokens, densities }: { blocks: number; tokens: readonly string[]; densities: readonly number[] },
): TokenChain => {
  const byBlock = new Map<number, ModelLog[]>()
  const numbers: number[] = []
  for (let number = 1; number <= blocks; number += 1) {
    const logs = tokens.flatMap((address, at): ModelLog[] =>
      random(1e9) < (densities[at] ?? 0) * 1e9
        ? [
            {
              address,
              topics: [
                transferTopic,
                ...[random(1e6), random(1e6)].map((one) => toTopic(toHash(String(one)).slice(0, 42))),
              ],
              data: `0x${random(1e9).toString(16).padStart(64, '0')}`,
            },
          ]
        : [],
    )
    if (logs.length === 0) continue
    byBlock.set(number, logs)
    numbers.push(number)
  }
  const byHash = new Map(Array.from({ length: blocks + 1 }, (_, number) => [toHash(`block ${number}`), number]))
  const toPlace = (number: number, index: number): object => ({
    blockNumber: toHex(number),
    blockHash: toHash(`block ${number}`),
    transactionHash: toHash(`transaction ${number} ${index}`),
    transactionIndex: toHex(index),
  })
  const toLog = (log: ModelLog, number: number, index: number): object => ({
    ...log,
    ...toPlace(number, index),
    blockTimestamp: toHex(number * 12),
    logIndex: toHex(index),
    removed: false,
  })
  const getFirst = (number: number): number => {
    let [low, high] = [0, numbers.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((numbers[middle] ?? 0) < number) low = middle + 1
      else high = middle
    }
    return low
  }
  const sender = toAddress(1)
  return {
    blocks,
    getLogs: (query) => {
      const found: object[] = []
      for (let at = getFirst(query.first); ; at += 1) {
        const number = numbers[at]
        if (number === undefined || number > query.last) return JSON.stringify(found)
        for (const [index, log] of byBlock.get(number)?.entries() ?? [])
          if (matches(query, log)) found.push(toLog(log, number, index))
      }
    },
    getBlock: (number) => {
      if (!(number >= 0 && number <= blocks)) return 'null'
      const logs = byBlock.get(number) ?? []
      return JSON.stringify({
        number: toHex(number),
        hash: toHash(`block ${number}`),
        parentHash: toHash(`block ${number - 1}`),
        timestamp: toHex(number * 12),
        logsBloom: toBloom(logs),
        ...blockMembers,
        transactionsRoot: logs.length === 0 ? emptyRoot : word,
        transactions: logs.map(({ address }, index) => ({
          hash: toHash(`transaction ${number} ${index}`),
          ...toPlace(number, index),
          from: sender,
          to: address,
          ...transactionMembers,
        })),
      })
    },
    getReceipts: (number) => {
      const logs = byBlock.get(number) ?? []
      const receipts = logs.map((log, index) => ({
        ...toPlace(number, index),
        from: sender,
        to: log.address,
        status: '0x1',
        logs: [toLog(log, number, index)],
        logsBloom: toBloom([log]),
        ...receiptMembers,
      }))
      return JSON.stringify(receipts)
    },
    getNumber: (hash) => byHash.get(hash),
    count: (counted) => {
      const wanted = [...byBlock.values()].flat().filter(({ address }) => counted.includes(address))
      return { logs: wanted.length, amount: wanted.reduce((sum, { data }) => sum + Number(data), 0) }
    },
  }
}
