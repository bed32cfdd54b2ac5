import type { Hash, Hex } from '@keyrail/core'
import type { Bytes } from '@keyrail/core/schema'
import { decode, encode, InvalidTypeError } from 'ox/AbiParameters'
import { fromHex, isHexData } from '../bytes/hex.ts'
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

/**
 * Rejects a value that the library would convert: `true` for an integer, any value for a text.
 */
function checkValue(parameter: AbiParameter, value: unknown): void {
  const array = parseArrayType(parameter)
  const { type, components = [] } = parameter
  if (array !== undefined) {
    if (!Array.isArray(value) || (array.length !== -1 && value.length !== array.length))
      throw mismatch(parameter, value)
    for (const one of value) checkValue(array.inner, one)
  } else if (type === 'tuple') {
    if (Object(value) !== value) throw mismatch(parameter, value)
    for (const [index, one] of components.entries()) checkValue(one, getComponent(value, one, index))
  } else if (!isOfType(type, value)) throw mismatch(parameter, value)
}

/** The value of a component of a tuple, which is an object or a list. */
const getComponent = (tuple: unknown, { name = '' }: AbiParameter, index: number): unknown =>
  Array.isArray(tuple) ? tuple[index] : (tuple as Record<string, unknown>)[name]

function isOfType(type: string, value: unknown): boolean {
  if (type === 'bool' || type === 'string') return typeof value === (type === 'bool' ? 'boolean' : type)
  if (type === 'address' || type.startsWith('bytes')) {
    const size = type === 'address' ? 20 : Number(type.slice(5)) || undefined
    // Geth accepts 0X in requests; libraries and compilers never write it.
    return isHexData(value, size) && value.startsWith('0x')
  }
  const [, unsigned, bits] = /^(u?)int(\d*)$/.exec(type) ?? []
  if (unsigned === undefined || typeof value === 'boolean') return false
  try {
    const number = BigInt(value as bigint)
    const width = Number(bits || 256)
    return (unsigned ? BigInt.asUintN(width, number) : BigInt.asIntN(width, number)) === number
  } catch {
    return false
  }
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
  for (const [index, parameter] of parameters.entries()) checkValue(parameter, values[index])
  return encode(parameters, values as never)
}

/**
 * ABI-decodes values.
 *
 * @param data - The bytes, without a selector. More bytes than the types need are ignored.
 * @throws {Error} if the data does not match the types.
 */
export function decodeAbi(parameters: readonly AbiParameter[], data: Bytes): readonly unknown[] {
  if (parameters.length === 0) return []
  try {
    return decode(parameters, data)
  } catch (error) {
    if (error instanceof InvalidTypeError)
      throw invalidInput(`Unknown ABI type in (${parameters.map(canonicalType).join()}). Use Solidity types`)
    throw new RangeError('The data does not match the types of the ABI')
  }
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
  checkValue(parameter, value)
  if (parameter.type === 'string') return keccakText(value as string)
  if (parameter.type === 'bytes') return keccakHex(fromHex(value as string))
  const encoded: Hex = `0x${encodeInPlace(parameter, value)}`
  const isWord = parameter.type !== 'tuple' && parseArrayType(parameter) === undefined
  return isWord ? encoded : keccakHex(fromHex(encoded))
}

/** Encodes an array or a struct for the hash of a topic: padded values in sequence, without lengths and offsets. */
function encodeInPlace(parameter: AbiParameter, value: unknown): string {
  const array = parseArrayType(parameter)
  if (array !== undefined) return (value as unknown[]).map((one) => encodeInPlace(array.inner, one)).join('')
  const { type, components = [] } = parameter
  if (type === 'tuple')
    return components.map((one, index) => encodeInPlace(one, getComponent(value, one, index))).join('')
  // Of a text or bytes, without the offset and the length.
  return encodeAbi([parameter], [value]).slice(type === 'string' || type === 'bytes' ? 2 + 128 : 2)
}
