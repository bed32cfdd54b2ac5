import { areByName } from '../call/writeParams.ts'
import { getBlockPosition } from './routeBlock.ts'

/** A name of a block that each node reads as another one. */
export type Tag = 'latest' | 'safe' | 'finalized'

const tags: readonly unknown[] = ['latest', 'safe', 'finalized'] satisfies Tag[]

/** The tags by which a call names its blocks. */
export interface TaggedCall {
  readonly tags: readonly Tag[]
  /** Returns the params as JSON text, with numbers of blocks in place of the tags. */
  readonly pin: (blocks: ReadonlyMap<Tag, number>) => string
}

/**
 * Finds the tags by which a call names its blocks. A block that is left out is the latest.
 *
 * @param method - The method.
 * @param params - Its params as JSON text.
 * @example
 * readTags('eth_getBalance', '["0xabc"]').tags // ['latest']
 */
export function readTags(method: string, params: string): TaggedCall {
  const position = getBlockPosition(method)
  const values = position === undefined || areByName(params) ? [] : (JSON.parse(params) as unknown[])
  const isRange = position?.startsWith('range') === true
  const place = Number(position?.replace('range', ''))
  // With too few params, the node reports the error.
  if (position === undefined || values.length < place || (isRange && !values[place]))
    return { tags: [], pin: () => params }
  const filter = Object(values[place]) as Readonly<Record<string, unknown>>
  const names = !isRange ? [] : filter['blockHash'] ? [] : ['fromBlock', 'toBlock']
  const found = new Map<string | number, Tag>()
  const add = (key: string | number, block: unknown): void => {
    const tag = block ?? 'latest'
    if (tags.includes(tag)) found.set(key, tag as Tag)
  }
  if (isRange) for (const name of names) add(name, filter[name])
  else add(place, values[place])
  return {
    tags: [...new Set(found.values())],
    pin: (blocks) => {
      if (found.size === 0) return params
      const numbers = [...found].map(([key, tag]) => [key, `0x${(blocks.get(tag) ?? 0).toString(16)}`] as const)
      const copy = [...values]
      copy[place] = isRange ? { ...filter, ...Object.fromEntries(numbers) } : numbers[0]?.[1]
      return JSON.stringify(copy)
    },
  }
}
