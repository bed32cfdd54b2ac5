import { NodeError } from './reorgChain.ts'
import type { ReorgChain } from './reorgChain.ts'

/** How a node responds to a request for a block that does not exist. */
export type NullRoundResponse = 'an error' | 'null'

/** The numbers without a block: two after the third block, and one after the fifth. */
const missing: ReadonlySet<number> = new Set([4, 5, 8])

/** The number of the block at an index. */
export const toRound = (index: number): number => index + (index > 3 ? 2 : 0) + (index > 5 ? 1 : 0)

const toIndex = (round: number): number => round - [...missing].filter((one) => one < round).length

/** Gives a chain numbers with gaps, as Filecoin has. */
export function addNullRounds(chain: ReorgChain, response: NullRoundResponse): ReorgChain {
  const hex = (value: number): `0x${string}` => `0x${value.toString(16)}`
  const readRound = (value: unknown): unknown => {
    if (typeof value !== 'string' || !value.startsWith('0x')) return value
    const round = Number(value)
    if (!missing.has(round)) return hex(toIndex(round))
    const message = `requested epoch was a null round (${round})`
    throw new NodeError('unknown', { code: 12, message })
  }
  const renumber = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renumber)
    const object = Object(value) as { number?: string; blockNumber?: string }
    if (object.number) return { ...object, number: hex(toRound(Number(object.number))) }
    if (object.blockNumber) return { ...object, blockNumber: hex(toRound(Number(object.blockNumber))) }
    return value
  }
  return {
    ...chain,
    respond: async (method, params) => {
      const [first] = params as [Record<string, unknown> | string | undefined]
      if (method === 'eth_blockNumber') return hex(toRound(Number(await chain.respond(method, params))))
      try {
        const own =
          method === 'eth_getBlockByNumber'
            ? [readRound(first), ...params.slice(1)]
            : method === 'eth_getLogs' && Object(first).fromBlock
              ? [
                  {
                    ...Object(first),
                    fromBlock: readRound(Object(first).fromBlock),
                    toBlock: readRound(Object(first).toBlock),
                  },
                ]
              : params
        return renumber(await chain.respond(method, own))
      } catch (error) {
        if (method === 'eth_getBlockByNumber' && response === 'null' && error instanceof NodeError) return null
        throw error
      }
    },
  }
}
