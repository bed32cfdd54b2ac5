import type { Hash, Hex } from '@keyrail/core'
import type { Bytes } from '@keyrail/core/schema'
import { checksumAddress } from '../bytes/checksumAddress.ts'
import { fromHex, isHexData, toHex, word } from '../bytes/hex.ts'
import { keccakHex, keccakText } from '../bytes/keccak.ts'
import { describeValue, invalidInput } from '../invalidInput.ts'
import type { AbiItem, AbiParameter } from './abi.ts'

/** The element type and the length of an array type; -1 for a dynamic length. */
function parseArrayType(
  parameter: AbiParameter,
): { readonly inner: AbiParameter; readonly length: number } | undefined {
  const [, type, length] = /^(.*)\[(\d*)\]$/.exec(parameter.type) ?? []
  return type === undefined ? undefined : { inner: { ...parameter, type }, length: length === '' ? -1 : Number(length) }
}

function isDynamic(parameter: AbiParameter): boolean {
  const array = parseArrayType(parameter)
  if (array !== undefined) return array.length === -1 || isDynamic(array.inner)
  if (parameter.type === 'tuple') return (parameter.components ?? []).some(isDynamic)
  return parameter.type === 'bytes' || parameter.type === 'string'
}

/** The type as written in a signature. */
function canonicalType(parameter: AbiParameter): string {
  if (!parameter.type.startsWith('tuple')) return parameter.type
  return `(${(parameter.components ?? []).map(canonicalType).join()})${parameter.type.slice('tuple'.length)}`
}

/** The signature of a function, event or error, from which its selector is computed. */
export function toSignature({ name = '', inputs = [] }: AbiItem): string {
  return `${name}(${inputs.map(canonicalType).join()})`
}

/** The selector: the first four bytes of the data of a call or an error. */
export function toSelector(item: AbiItem): Hex {
  return keccakText(toSignature(item)).slice(0, 10) as Hex
}

const mismatch = ({ name, type }: AbiParameter, value: unknown): Error =>
  invalidInput(
    `${name ? `The value of ${name}` : 'A value'} is ${describeValue(value)}. Pass a value of the ABI type ${type}`,
  )

/** Hex without `0x`, padded on the right to a multiple of 32 bytes. */
const padded = (hex: string): string => hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')

function encodeValue(parameter: AbiParameter, value: unknown): string {
  const array = parseArrayType(parameter)
  if (array !== undefined) {
    if (!Array.isArray(value) || (array.length !== -1 && value.length !== array.length))
      throw mismatch(parameter, value)
    const body = encodeAll(
      Array.from(value, () => array.inner),
      value,
    )
    return array.length === -1 ? word(value.length) + body : body
  }
  const { type, components = [] } = parameter
  if (type === 'tuple') {
    if (Object(value) !== value) throw mismatch(parameter, value)
    return encodeAll(
      components,
      Array.isArray(value) ? value : components.map(({ name = '' }) => (value as Record<string, unknown>)[name]),
    )
  }
  if (type === 'bool') return word(value === true ? 1 : value === false ? 0 : fail(parameter, value))
  if (type === 'string' || type === 'bytes') {
    const isText = type === 'string' && typeof value === 'string'
    if (!isText && !isHexData(value)) throw mismatch(parameter, value)
    const hex = (isText ? toHex(new TextEncoder().encode(value)) : value).slice(2)
    return word(hex.length / 2) + padded(hex)
  }
  if (type === 'address' || type.startsWith('bytes')) {
    const size = type === 'address' ? 20 : Number(type.slice(5))
    if (!isHexData(value, size)) throw mismatch(parameter, value)
    const hex = value.slice(2).toLowerCase()
    return type === 'address' ? hex.padStart(64, '0') : padded(hex)
  }
  const [, unsigned, bits] = /^(u?)int(\d*)$/.exec(type) ?? fail(parameter, value)
  let number: bigint
  try {
    number = BigInt(value as bigint)
  } catch {
    throw mismatch(parameter, value)
  }
  const width = Number(bits || 256)
  const fits = unsigned ? BigInt.asUintN(width, number) : BigInt.asIntN(width, number)
  if (typeof value === 'boolean' || fits !== number) throw mismatch(parameter, value)
  return word(number)
}

function fail(parameter: AbiParameter, value: unknown): never {
  throw mismatch(parameter, value)
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
 * ABI-encodes values.
 *
 * @throws {KeyrailError} kind `invalidRequest`, with the value that does not match its type.
 * @see Solidity documentation, Contract ABI Specification
 */
export function encodeAbi(parameters: readonly AbiParameter[], values: readonly unknown[]): Bytes {
  if (values.length !== parameters.length) {
    throw invalidInput(`The ABI expects ${parameters.length} value(s), but got ${values.length}`)
  }
  return `0x${encodeAll(parameters, values)}`
}

function unsupported({ type }: AbiParameter): never {
  throw invalidInput(`Unknown ABI type ${type}. Use a Solidity type`)
}

function decodeValue(parameter: AbiParameter, data: string, start: number): unknown {
  const read = (at: number, length = 64): string => {
    const text = data.slice(at, at + length)
    if (text.length < length) throw new RangeError('The data is too short for the types of the ABI')
    return text
  }
  const number = (at: number): number => Number(BigInt(`0x${read(at)}`))
  const array = parseArrayType(parameter)
  if (array !== undefined) {
    const length = array.length === -1 ? number(start) : array.length
    if (length > data.length) throw new RangeError('The data is too short for the types of the ABI')
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
  const [, unsigned, bits] = /^(u?)int(\d*)$/.exec(type) ?? unsupported(parameter)
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

/** The length of a static type, in hex digits. */
function staticLength(parameter: AbiParameter): number {
  const array = parseArrayType(parameter)
  if (array !== undefined) return array.length * staticLength(array.inner)
  if (parameter.type !== 'tuple') return 64
  return (parameter.components ?? []).reduce((sum, component) => sum + staticLength(component), 0)
}

/**
 * ABI-decodes values.
 *
 * @param data - The bytes, without a selector.
 * @throws {Error} if the data does not match the types.
 */
export function decodeAbi(parameters: readonly AbiParameter[], data: Bytes): unknown[] {
  return decodeAll(parameters, data.slice(2), 0)
}

/** ABI-encodes an event as topics and data. Indexed values without a fixed length are hashed. */
export function encodeEvent(event: AbiItem, args: unknown): { readonly topics: Hash[]; readonly data: Bytes } {
  const inputs = event.inputs ?? []
  const values = Array.isArray(args)
    ? (args as unknown[])
    : inputs.map(({ name = '' }) => (args as Record<string, unknown> | undefined)?.[name])
  if (values.length !== inputs.length)
    throw invalidInput(`The event ${toSignature(event)} has ${inputs.length} value(s), but got ${values.length}`)
  const topics = [keccakText(toSignature(event))]
  const dataParameters: AbiParameter[] = []
  const dataValues: unknown[] = []
  for (const [index, parameter] of inputs.entries()) {
    const value = values[index]
    if (!parameter.indexed) {
      dataParameters.push(parameter)
      dataValues.push(value)
    } else topics.push(encodeTopic(parameter, value))
  }
  return { topics, data: encodeAbi(dataParameters, dataValues) }
}

function encodeTopic(parameter: AbiParameter, value: unknown): Hash {
  const encoded = encodeValue(parameter, value)
  if (parameter.type === 'string' || parameter.type === 'bytes') {
    return keccakHex(fromHex(`0x${encoded.slice(64, 64 + 2 * Number(BigInt(`0x${encoded.slice(0, 64)}`)))}`))
  }
  const isWord = parameter.type !== 'tuple' && parseArrayType(parameter) === undefined
  if (isWord) return `0x${encoded}`
  return keccakHex(fromHex(`0x${encodeInPlace(parameter, value)}`))
}

/** Encodes an array or a struct for the hash of a topic: padded values in sequence, without lengths and offsets. */
function encodeInPlace(parameter: AbiParameter, value: unknown): string {
  const array = parseArrayType(parameter)
  if (array !== undefined) return (value as unknown[]).map((one) => encodeInPlace(array.inner, one)).join('')
  const { type, components = [] } = parameter
  if (type === 'tuple') {
    return components
      .map((one, index) =>
        encodeInPlace(one, Array.isArray(value) ? value[index] : (value as Record<string, unknown>)[one.name ?? '']),
      )
      .join('')
  }
  const encoded = encodeValue(parameter, value)
  return type === 'string' || type === 'bytes' ? encoded.slice(64) : encoded
}
