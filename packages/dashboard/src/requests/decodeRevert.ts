import type { AbiParameter, Hex } from 'viem'
import { decodeErrorResult, formatAbiItem, parseAbi, toFunctionSelector } from 'viem/utils'

/** What the revert data of a call says. */
export type DecodedRevert =
  /** `text`: such as `Foo(a: 5)`. */
  | { readonly kind: 'decoded'; readonly text: string }
  /** The log does not have all of the arguments. `text`: such as `Foo(uint256 a)`. */
  | { readonly kind: 'cut'; readonly text: string }
  /** No known error has this selector. */
  | { readonly kind: 'unknown'; readonly selector: string }

/** Parses signatures. One that is wrong does not hide the others. */
const parseErrors = (signatures: readonly string[]) =>
  signatures.flatMap((signature) => {
    try {
      return parseAbi([signature] as readonly string[]).flatMap((item) => (item.type === 'error' ? [item] : []))
    } catch {
      return []
    }
  })

const toValueText = (value: unknown, parameter: AbiParameter | undefined): string => {
  if (Array.isArray(value)) {
    const { type = '' } = parameter ?? {}
    const components = getComponents(parameter)
    // The members of a tuple without names are a list too.
    if (type === 'tuple') return `(${toListText(value, components)})`
    const item = parameter && { ...parameter, type: type.replace(/\[\d*\]$/, '') }
    return `[${value.map((one) => toValueText(one, item)).join(', ')}]`
  }
  if (typeof value === 'object' && value !== null) {
    const members = value as Readonly<Record<string, unknown>>
    const components = getComponents(parameter)
    return `(${toListText(
      components.map(({ name = '' }) => members[name]),
      components,
    )})`
  }
  return typeof value === 'string' && parameter?.type === 'string' ? JSON.stringify(value) : String(value)
}

const getComponents = (parameter: AbiParameter | undefined): readonly AbiParameter[] =>
  parameter !== undefined && 'components' in parameter ? parameter.components : []

const toListText = (values: readonly unknown[], parameters: readonly AbiParameter[]): string =>
  values
    .map((value, at) => {
      const parameter = parameters[at]
      const text = toValueText(value, parameter)
      return parameter?.name ? `${parameter.name}: ${text}` : text
    })
    .join(', ')

/**
 * Decodes the revert data of a call: a custom error with its arguments, or `Error(string)` and `Panic(uint256)`.
 * @param data - Hex with `0x`, which may be cut.
 * @param signatures - The known errors, such as `error Foo(uint256 a)`.
 */
export function decodeRevert(data: string, signatures: readonly string[]): DecodedRevert {
  const selector = data.slice(0, 10).toLowerCase()
  const abi = [...parseErrors(signatures), ...builtIn]
  const error = abi.find((one) => toFunctionSelector(formatAbiItem(one)) === selector)
  if (error === undefined) return { kind: 'unknown', selector }
  try {
    // Half a byte at the end is no hex.
    const hex = data.slice(0, data.length & ~1) as Hex
    const args = error.inputs.length === 0 ? [] : decodeErrorResult({ abi: [error], data: hex }).args
    return { kind: 'decoded', text: `${error.name}(${toListText(args, error.inputs)})` }
  } catch {
    return { kind: 'cut', text: formatAbiItem(error, { includeName: true }) }
  }
}

const builtIn = parseAbi(['error Error(string)', 'error Panic(uint256)'])
