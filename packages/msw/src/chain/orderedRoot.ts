import { concat, toIntegerBytes } from '../bytes/hex.ts'
import { keccak } from '../bytes/keccak.ts'
import { encodeRlp } from '../bytes/rlp.ts'
import type { Rlp } from '../bytes/rlp.ts'

interface Leaf {
  readonly path: readonly number[]
  readonly value: Uint8Array
}

/**
 * The root of a trie of values by index, such as the transactions, receipts or withdrawals of a block.
 *
 * @see Yellow Paper, appendix D
 */
export function orderedRoot(values: readonly Uint8Array[]): Uint8Array {
  const leaves = values.map((value, index): Leaf => {
    const key = encodeRlp(toIntegerBytes(index))
    return { path: [...key].flatMap((byte) => [byte >> 4, byte & 15]), value }
  })
  return keccak(encodeRlp(node(leaves, 0)))
}

/** Packs nibbles into bytes, with a flag for a leaf and for an odd count. */
function compact(nibbles: readonly number[], isLeaf: boolean): Uint8Array {
  const odd = nibbles.length % 2
  const flag = (isLeaf ? 2 : 0) + odd
  const whole = odd ? [flag, ...nibbles] : [flag, 0, ...nibbles]
  return Uint8Array.from(
    { length: whole.length / 2 },
    (_, at) => ((whole[2 * at] as number) << 4) | (whole[2 * at + 1] as number),
  )
}

/** A child node: inlined if it is shorter than 32 bytes, else its hash. */
function inner(value: Rlp): Rlp {
  const encoded = encodeRlp(value)
  return encoded.length < 32 ? value : keccak(encoded)
}

function node(leaves: readonly Leaf[], depth: number): Rlp {
  const [first, ...others] = leaves
  if (first === undefined) return concat()
  if (others.length === 0) return [compact(first.path.slice(depth), true), first.value]
  let common = depth
  while (others.every(({ path }) => path[common] === first.path[common])) common++
  if (common > depth) return [compact(first.path.slice(depth, common), false), inner(node(leaves, common))]
  const branches = Array.from({ length: 16 }, (_, nibble): Rlp => {
    const under = leaves.filter(({ path }) => path[depth] === nibble)
    return under.length === 0 ? concat() : inner(node(under, depth + 1))
  })
  return [...branches, concat()]
}
