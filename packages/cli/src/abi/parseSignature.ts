import type { Hex } from '@keyrail/core'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { formatTypes } from './abiType.ts'
import type { AbiParameter, AbiType } from './abiType.ts'

/** The signature of a function or an event. */
export interface Signature {
  readonly name: string
  readonly inputs: readonly AbiParameter[]
  /** Of a function, if the signature has them. */
  readonly outputs: readonly AbiParameter[] | undefined
}

/** Creates the error for a signature, given what is wrong with it: `cannot be parsed`. */
export type SignatureError = (message: string) => Error

const isName = (token: string | undefined): token is string => token !== undefined && /^[A-Za-z_$]/.test(token)

/** Words between the parameters of a function and its results. */
const functionWords: ReadonlySet<string> = new Set(['external', 'public', 'view', 'pure', 'payable', 'nonpayable'])
/** Words between a type and its name. */
const parameterWords: ReadonlySet<string> = new Set(['payable', 'memory', 'calldata', 'storage', 'indexed'])

function parseElementary(name: string): AbiType | undefined {
  switch (name) {
    case 'address':
    case 'bool':
    case 'string':
      return { kind: name }
    case 'bytes':
      return { kind: 'bytes', name, size: undefined }
    case 'function':
      return { kind: 'bytes', name, size: 24 }
  }
  const [, kind, digits] = /^(bytes(?=\d)|uint|int)([1-9]\d*)?$/.exec(name) ?? []
  if (kind === 'bytes') return Number(digits) <= 32 ? { kind, name, size: Number(digits) } : undefined
  if (kind !== 'uint' && kind !== 'int') return undefined
  const bits = Number(digits ?? 256)
  return bits % 8 === 0 && bits <= 256 ? { kind, bits } : undefined
}

/**
 * Parses the signature of a function or an event.
 *
 * @param text - As in Solidity, or short: `balanceOf(address)(uint256)`. Parameter names, `function`, `event`, `returns` and a semicolon are optional.
 * @param createError - Creates the error.
 * @throws The error of `createError` if it cannot be parsed.
 * @see Contract ABI specification, types and function selectors
 */
export function parseSignature(text: string, createError: SignatureError): Signature {
  const tokens = text.match(/[A-Za-z_$][\w$]*|\d+|\S/g) ?? []
  let at = 0
  const skip = (token: string): boolean => {
    if (tokens[at] !== token) return false
    at++
    return true
  }
  const expect = (token: string): void => {
    if (!skip(token)) throw createError('cannot be parsed')
  }

  const parseArrays = (type: AbiType): AbiType => {
    if (!skip('[')) return type
    const length = /^[1-9]\d*$/.test(tokens[at] ?? '') ? Number(tokens[at++]) : undefined
    expect(']')
    return parseArrays({ kind: 'array', item: type, length })
  }
  const parseType = (): AbiType => {
    if (tokens[at] === 'tuple' && tokens[at + 1] === '(') at++
    if (tokens[at] === '(') {
      const members = parseList()
      if (members.length === 0) throw createError('has a tuple without members')
      return parseArrays({ kind: 'tuple', members })
    }
    const name = tokens[at]
    if (name === ',' || name === ')') throw createError('has a parameter without a type')
    if (!isName(name)) throw createError('cannot be parsed')
    at++
    const type = parseElementary(name)
    if (type === undefined) throw createError(`has an unknown type: ${name}`)
    return parseArrays(type)
  }
  const parseParameter = (): AbiParameter => {
    const type = parseType()
    let indexed = false
    while (parameterWords.has(tokens[at] ?? '')) indexed = tokens[at++] === 'indexed' || indexed
    return { type, indexed, name: isName(tokens[at]) ? (tokens[at++] as string) : '' }
  }
  const parseList = (): AbiParameter[] => {
    expect('(')
    if (skip(')')) return []
    const parameters = [parseParameter()]
    while (skip(',')) parameters.push(parseParameter())
    expect(')')
    return parameters
  }

  if ((tokens[0] === 'function' || tokens[0] === 'event') && isName(tokens[1])) at++
  const name = tokens[at++]
  if (!isName(name)) throw createError('cannot be parsed')
  const inputs = parseList()
  while (functionWords.has(tokens[at] ?? '')) at++
  skip('returns')
  const outputs = tokens[at] === '(' ? parseList() : undefined
  skip(';')
  if (at < tokens.length) throw createError('cannot be parsed')
  return { name, inputs, outputs }
}

/** Formats the canonical form of a signature, without its results: `transfer(address,uint256)`. */
export const formatSignature = ({ name, inputs }: Pick<Signature, 'name' | 'inputs'>): string =>
  `${name}${formatTypes(inputs)}`

/** Hashes a signature: an event's first topic. The first four bytes are a function's selector. */
export function hashSignature(signature: Pick<Signature, 'name' | 'inputs'>): Hex {
  const bytes = new TextEncoder().encode(formatSignature(signature))
  return `0x${Buffer.from(keccak_256(bytes)).toString('hex')}`
}
