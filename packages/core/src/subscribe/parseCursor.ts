import { check } from '../failure/check.ts'
import type { Hash } from '../schema/hex.ts'
import type { ChainState } from './recentChain.ts'

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const isPosition = (value: unknown): value is readonly [number: number, hash: Hash, ...rest: unknown[]] =>
  Array.isArray(value) && isWhole(value[0]) && /^0x[\da-f]{64}$/i.test(String(value[1]))

const parseJson = (text: unknown): unknown => {
  try {
    return JSON.parse(text as string)
  } catch {
    return undefined
  }
}

/**
 * Parses a cursor. It comes from storage, so it may be anything.
 *
 * @param cursor - The value passed as a cursor; undefined to start.
 * @throws {KeyrailError} kind `invalidRequest` unless `cursor()` returned it.
 */
export function parseCursor(cursor: string | undefined): ChainState {
  if (cursor === undefined) return { complete: true, blocks: [] }
  const parsed = typeof cursor === 'string' ? parseJson(cursor) : undefined
  const { first, complete, blocks, partial } = Object(parsed) as Readonly<Record<string, unknown>>
  check(
    (first === undefined || isWhole(first)) &&
      typeof complete === 'boolean' &&
      Array.isArray(blocks) &&
      blocks.every(
        (block, index) => isPosition(block) && (index === 0 || block[0] < (blocks[index - 1] as [number])[0]),
      ) &&
      (partial === undefined || (isPosition(partial) && isWhole(partial[2]))),
    'cursor must be text that cursor() of a subscription returned',
  )
  return {
    first,
    complete,
    blocks: (blocks as [number, Hash][]).map(([number, hash]) => ({ number, hash, reported: [] })).reverse(),
    partial: partial && { number: partial[0], hash: partial[1], logIndex: partial[2] as number, reported: [] },
  }
}
