import { wrongUsage } from '../cliError.ts'
import { formatType } from './abiType.ts'
import type { AbiType, AbiValue } from './abiType.ts'

const examples: Readonly<Record<AbiType['kind'], string>> = {
  uint: 'a whole number, such as 12 or 0xc',
  int: 'a whole number, such as 12, -12 or 0xc',
  address: '0x and 40 hex digits',
  bool: 'true or false',
  bytes: '0x and two hex digits for each byte',
  string: 'text',
  array: 'a list, such as [1,2]',
  tuple: 'its members in parentheses, such as (1,true)',
}

/** Splits `[a,(b,c)]` or `(a,[b])` into its items: `a`, `(b,c)`; undefined if it is no list. Commas in double quotes do not split. */
function splitList(text: string): string[] | undefined {
  const brackets = `${text[0] ?? ''}${text.at(-1) ?? ''}`
  if (brackets !== '[]' && brackets !== '()') return undefined
  const inner = text.slice(1, -1)
  const items: string[] = []
  let depth = 0
  let from = 0
  for (const { 0: token, index } of inner.matchAll(/"(?:[^"\\]|\\.)*"|[[\](),]/g)) {
    if (token === '[' || token === '(') depth++
    if (token === ']' || token === ')') depth--
    if (depth < 0) return undefined
    if (token !== ',' || depth > 0) continue
    items.push(inner.slice(from, index))
    from = index + 1
  }
  if (depth > 0) return undefined
  return inner.trim() === '' ? [] : [...items, inner.slice(from)].map((item) => item.trim())
}

/** Parses a string inside a list, where it may be in double quotes. */
function unquote(text: string): string | undefined {
  if (!text.startsWith('"')) return text
  try {
    return JSON.parse(text) as string
  } catch {
    return undefined
  }
}

function parseInteger(type: AbiType & { readonly kind: 'uint' | 'int' }, text: string): bigint | undefined {
  const [, sign, digits = ''] = /^(-?)(\d+|0x[\da-f]+)$/i.exec(text) ?? []
  if (sign === undefined) return undefined
  const value = sign === '-' ? -BigInt(digits) : BigInt(digits)
  return (type.kind === 'uint' ? BigInt.asUintN(type.bits, value) : BigInt.asIntN(type.bits, value)) === value
    ? value
    : undefined
}

/** Parses a value; undefined if it is invalid. */
function parse(type: AbiType, text: string): AbiValue | undefined {
  switch (type.kind) {
    case 'uint':
    case 'int':
      return parseInteger(type, text)
    case 'bool':
      return text === 'true' ? true : text === 'false' ? false : undefined
    case 'address':
      return /^0x[\da-f]{40}$/i.test(text) ? text.toLowerCase() : undefined
    case 'bytes': {
      const isBytes =
        /^0x(?:[\da-f]{2})*$/i.test(text) && (type.size === undefined || text.length === 2 + 2 * type.size)
      return isBytes ? text.toLowerCase() : undefined
    }
    case 'string':
      return text
    case 'array':
    case 'tuple': {
      const items = splitList(text)
      const length = type.kind === 'tuple' ? type.members.length : (type.length ?? items?.length)
      if (items === undefined || items.length !== length) return undefined
      const values = items.map((item, index) => {
        const itemType = type.kind === 'tuple' ? type.members[index]?.type : type.item
        if (itemType === undefined) return undefined
        const plain = itemType.kind === 'string' ? unquote(item) : item
        return plain === undefined ? undefined : parse(itemType, plain)
      })
      return values.every((value) => value !== undefined) ? values : undefined
    }
  }
}

/**
 * Parses an argument of a contract call.
 *
 * @param type - Its type.
 * @param text - As on the command line: `12`, `true`, `0x…`, `[1,2]`, `(1,"a, b")`.
 * @param place - What it is, for the error: `argument 1`.
 * @throws {CliError} exit code 2 if it is not a value of the type.
 */
export function parseAbiValue(type: AbiType, text: string, place: string): AbiValue {
  const value = parse(type, text)
  if (value !== undefined) return value
  throw wrongUsage(`${place} is not a valid ${formatType(type)}`, `use ${examples[type.kind]}`)
}
