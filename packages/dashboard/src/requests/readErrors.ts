import type { Abi } from 'viem'
import { formatAbiItem, parseAbi } from 'viem/utils'

/** The errors of an ABI, or why it has none. */
export type ReadErrors = { readonly signatures: readonly string[] } | { readonly problem: string }

type AbiItem = Abi[number]

const toSignatures = (items: readonly AbiItem[]): readonly string[] => [
  ...new Set(
    items.flatMap((item) => (item.type === 'error' ? [`error ${formatAbiItem(item, { includeName: true })}`] : [])),
  ),
]

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isItem = (value: unknown): value is AbiItem => {
  if (typeof value !== 'object' || value === null) return false
  const { type, name, inputs } = value as Readonly<Record<string, unknown>>
  return typeof type === 'string' && (type !== 'error' || (typeof name === 'string' && Array.isArray(inputs)))
}

/** Reads a list of items, or the artifact of a compiler, which has them as `abi`. */
const readJson = (json: unknown): ReadErrors => {
  const items: unknown = typeof json === 'object' && json !== null && 'abi' in json ? json.abi : json
  if (!Array.isArray(items) || !items.every(isItem))
    return { problem: 'must be a list of ABI items, or the JSON file of a compiler that has one as "abi"' }
  try {
    const signatures = toSignatures(items)
    parseAbi(signatures)
    return { signatures }
  } catch {
    return { problem: 'has an error whose name or parameters are not valid. Paste the ABI as the compiler wrote it' }
  }
}

/** Reads lines of human-readable ABI or of Solidity; those of structs define types of the others. */
const readLines = (text: string): ReadErrors => {
  const lines = text.split('\n').flatMap((line, at) => {
    const item = line
      .replace(/\/\/.*/, '')
      .trim()
      .replace(/;$/, '')
    return item === '' ? [] : [{ item, number: at + 1 }]
  })
  const structs = lines.filter(({ item }) => item.startsWith('struct ')).map(({ item }) => item)
  for (const { item, number } of lines) {
    try {
      parseAbi([...new Set([...structs, item])])
    } catch {
      return { problem: `has no valid ABI item on line ${number}. Write a line such as error Foo(uint256 a)` }
    }
  }
  const items = lines.map(({ item }) => item)
  return { signatures: toSignatures(items.length === 0 ? [] : (parseAbi(items) as readonly AbiItem[])) }
}

/**
 * Reads the custom errors of an ABI that a user has pasted: JSON, or lines such as `error Foo(uint256 a)`.
 * @returns Signatures, each once; or a problem that continues a sentence which starts with "The ABI".
 */
export function readErrors(text: string): ReadErrors {
  if (text.trim() === '') return { problem: 'is empty. Paste JSON, or lines such as error Foo(uint256 a)' }
  const json = parseJson(text)
  if (json === undefined && /^\s*[[{]/.test(text)) return { problem: 'is no complete JSON. Paste all of it' }
  const read = json === undefined ? readLines(text) : readJson(json)
  if ('signatures' in read && read.signatures.length === 0)
    return { problem: 'has no errors. Only its items of the type "error" are stored' }
  return read
}
