import type { Bytes, Hash, Hex } from '@keyrail/core'
import { checksumAddress } from '../bytes/checksumAddress.ts'
import { fromHex, isHexData, toHex, word } from '../bytes/hex.ts'
import { keccakHex, keccakText } from '../bytes/keccak.ts'
import { refused } from '../refused.ts'
import type { AbiItem, AbiParameter } from './abi.ts'

/** The type of each element, and how many there are; -1 where the value says so. */
function arrayOf(parameter: AbiParameter): { readonly inner: AbiParameter; readonly length: number } | undefined {
  const [, type, length] = /^(.*)\[(\d*)\]$/.exec(parameter.type) ?? []
  return type === undefined ? undefined : { inner: { ...parameter, type }, length: length === '' ? -1 : Number(length) }
}

function isDynamic(parameter: AbiParameter): boolean {
  const array = arrayOf(parameter)
  if (array !== undefined) return array.length === -1 || isDynamic(array.inner)
  if (parameter.type === 'tuple') return (parameter.components ?? []).some(isDynamic)
  return parameter.type === 'bytes' || parameter.type === 'string'
}

/** A type as it stands in a signature. */
function canonical(parameter: AbiParameter): string {
  if (!parameter.type.startsWith('tuple')) return parameter.type
  return `(${(parameter.components ?? []).map(canonical).join()})${parameter.type.slice('tuple'.length)}`
}

/** A function, event or error with the types that it takes, which is what its selector is made of. */
export function signatureOf({ name = '', inputs = [] }: AbiItem): string {
  return `${name}(${inputs.map(canonical).join()})`
}

/** The first four bytes of the data of a call or an error. */
export function selectorOf(item: AbiItem): Hex {
  return keccakText(signatureOf(item)).slice(0, 10) as Hex
}

const bad = (parameter: AbiParameter): Error =>
  refused(`${parameter.name ? `${parameter.name} is` : 'that is'} no ${parameter.type}, as the ABI wants it`)

/** Bytes in hex without the `0x`, padded to whole words at their end. */
const padded = (hex: string): string => hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')

function encodeValue(parameter: AbiParameter, value: unknown): string {
  const array = arrayOf(parameter)
  if (array !== undefined) {
    if (!Array.isArray(value) || (array.length !== -1 && value.length !== array.length)) throw bad(parameter)
    const body = encodeAll(
      Array.from(value, () => array.inner),
      value,
    )
    return array.length === -1 ? word(value.length) + body : body
  }
  const { type, components = [] } = parameter
  if (type === 'tuple') {
    if (Object(value) !== value) throw bad(parameter)
    return encodeAll(
      components,
      Array.isArray(value) ? value : components.map(({ name = '' }) => (value as Record<string, unknown>)[name]),
    )
  }
  if (type === 'bool') return word(value === true ? 1 : value === false ? 0 : fail(parameter))
  if (type === 'string' || type === 'bytes') {
    const isText = type === 'string' && typeof value === 'string'
    if (!isText && !isHexData(value)) throw bad(parameter)
    const hex = (isText ? toHex(new TextEncoder().encode(value)) : value).slice(2)
    return word(hex.length / 2) + padded(hex)
  }
  if (type === 'address' || type.startsWith('bytes')) {
    const size = type === 'address' ? 20 : Number(type.slice(5))
    if (!isHexData(value, size)) throw bad(parameter)
    const hex = value.slice(2).toLowerCase()
    return type === 'address' ? hex.padStart(64, '0') : padded(hex)
  }
  const [, unsigned, bits] = /^(u?)int(\d*)$/.exec(type) ?? fail(parameter)
  let number: bigint
  try {
    number = BigInt(value as bigint)
  } catch {
    throw bad(parameter)
  }
  const width = Number(bits || 256)
  const fits = unsigned ? BigInt.asUintN(width, number) : BigInt.asIntN(width, number)
  if (typeof value === 'boolean' || fits !== number) throw bad(parameter)
  return word(number)
}

function fail(parameter: AbiParameter): never {
  throw bad(parameter)
}

function encodeAll(parameters: readonly AbiParameter[], values: readonly unknown[]): string {
  const parts = parameters.map((parameter, index) => ({
    dynamic: isDynamic(parameter),
    hex: encodeValue(parameter, values[index]),
  }))
  let offset = parts.reduce((sum, { dynamic, hex }) => sum + (dynamic ? 32 : hex.length / 2), 0)
  let head = ''
  let tail = ''
  for (const { dynamic, hex } of parts) {
    head += dynamic ? word(offset) : hex
    if (dynamic) {
      tail += hex
      offset += hex.length / 2
    }
  }
  return head + tail
}

/**
 * Writes values as contracts take and give them.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the value that does not fit.
 * @see Solidity documentation, Contract ABI Specification
 */
export function encodeAbi(parameters: readonly AbiParameter[], values: readonly unknown[]): Bytes {
  if (values.length !== parameters.length) {
    throw refused(`the ABI wants ${parameters.length} value(s) there, not ${values.length}`)
  }
  return `0x${encodeAll(parameters, values)}`
}

function decodeValue(parameter: AbiParameter, data: string, start: number): unknown {
  const read = (at: number, length = 64): string => {
    const text = data.slice(at, at + length)
    if (text.length < length) throw new RangeError('the data is too short')
    return text
  }
  const number = (at: number): number => Number(BigInt(`0x${read(at)}`))
  const array = arrayOf(parameter)
  if (array !== undefined) {
    const length = array.length === -1 ? number(start) : array.length
    if (length > data.length) throw new RangeError('the data is too short')
    return decodeAll(
      Array.from({ length }, () => array.inner),
      data,
      array.length === -1 ? start + 64 : start,
    )
  }
  const { type, components = [] } = parameter
  if (type === 'tuple') {
    const values = decodeAll(components, data, start)
    return Object.fromEntries(components.map(({ name }, index) => [name || String(index), values[index]]))
  }
  if (type === 'bool') return BigInt(`0x${read(start)}`) !== 0n
  if (type === 'address') return checksumAddress(`0x${read(start).slice(24)}`)
  if (type === 'string' || type === 'bytes') {
    const hex = `0x${read(start + 64, 2 * number(start))}`
    return type === 'bytes' ? hex : new TextDecoder().decode(fromHex(hex))
  }
  if (type.startsWith('bytes')) return `0x${read(start, 2 * Number(type.slice(5)))}`
  const [, unsigned, bits] = /^(u?)int(\d*)$/.exec(type) ?? fail(parameter)
  const whole = BigInt(`0x${read(start)}`)
  const value = unsigned ? whole : BigInt.asIntN(256, whole)
  return Number(bits || 256) <= 48 ? Number(value) : value
}

function decodeAll(parameters: readonly AbiParameter[], data: string, start: number): unknown[] {
  let at = start
  return parameters.map((parameter) => {
    const here = at
    if (isDynamic(parameter)) {
      at += 64
      const offset = Number(BigInt(`0x${data.slice(here, here + 64)}`))
      return decodeValue(parameter, data, start + 2 * offset)
    }
    at += staticLength(parameter)
    return decodeValue(parameter, data, here)
  })
}

/** How many hex digits a type of fixed length takes. */
function staticLength(parameter: AbiParameter): number {
  const array = arrayOf(parameter)
  if (array !== undefined) return array.length * staticLength(array.inner)
  if (parameter.type !== 'tuple') return 64
  return (parameter.components ?? []).reduce((sum, component) => sum + staticLength(component), 0)
}

/**
 * Reads values as contracts take and give them.
 *
 * @param data - The bytes, without a selector.
 * @throws {Error} where they are none of these types.
 */
export function decodeAbi(parameters: readonly AbiParameter[], data: Bytes): unknown[] {
  return decodeAll(parameters, data.slice(2), 0)
}

/** The topics and the data of an event. What is indexed and has no fixed length stands as its hash. */
export function encodeEvent(event: AbiItem, args: unknown): { readonly topics: Hash[]; readonly data: Bytes } {
  const inputs = event.inputs ?? []
  const values = Array.isArray(args)
    ? (args as unknown[])
    : inputs.map(({ name = '' }) => (args as Record<string, unknown> | undefined)?.[name])
  if (values.length !== inputs.length) throw refused(`${signatureOf(event)} is emitted with ${inputs.length} value(s)`)
  const topics = [keccakText(signatureOf(event))]
  const plain: AbiParameter[] = []
  const rest: unknown[] = []
  for (const [index, parameter] of inputs.entries()) {
    const value = values[index]
    if (!parameter.indexed) {
      plain.push(parameter)
      rest.push(value)
    } else topics.push(topicOf(parameter, value))
  }
  return { topics, data: encodeAbi(plain, rest) }
}

function topicOf(parameter: AbiParameter, value: unknown): Hash {
  const encoded = encodeValue(parameter, value)
  if (parameter.type === 'string' || parameter.type === 'bytes') {
    return keccakHex(fromHex(`0x${encoded.slice(64, 64 + 2 * Number(BigInt(`0x${encoded.slice(0, 64)}`)))}`))
  }
  const isWord = parameter.type !== 'tuple' && arrayOf(parameter) === undefined
  if (isWord) return `0x${encoded}`
  return keccakHex(fromHex(`0x${inPlace(parameter, value)}`))
}

/** A list or a struct as it is hashed for a topic: its values one after another, padded, without lengths and offsets. */
function inPlace(parameter: AbiParameter, value: unknown): string {
  const array = arrayOf(parameter)
  if (array !== undefined) return (value as unknown[]).map((one) => inPlace(array.inner, one)).join('')
  const { type, components = [] } = parameter
  if (type === 'tuple') {
    return components
      .map((one, index) =>
        inPlace(one, Array.isArray(value) ? value[index] : (value as Record<string, unknown>)[one.name ?? '']),
      )
      .join('')
  }
  const encoded = encodeValue(parameter, value)
  return type === 'string' || type === 'bytes' ? encoded.slice(64) : encoded
}
