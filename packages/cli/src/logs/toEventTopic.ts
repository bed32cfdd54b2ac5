import type { Hex } from '@keyrail/core'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { wrongUsage } from '../cliError.ts'

const toEventError = (message: string): Error =>
  wrongUsage(`--event ${message}`, "use a Solidity event signature: --event 'Transfer(address,address,uint256)'")

/** Splits a list at the commas outside parentheses. */
function splitList(list: string): string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < list.length; at++) {
    const letter = list[at]
    if (letter === '(') depth++
    if (letter === ')' && --depth < 0) break
    if (letter === ',' && depth === 0) {
      parts.push(list.slice(from, at))
      from = at + 1
    }
  }
  if (depth !== 0) throw toEventError('cannot be parsed')
  return list.trim() === '' ? [] : [...parts, list.slice(from)]
}

const canonicalNames: Readonly<Record<string, string>> = { uint: 'uint256', int: 'int256' }

function isElementary(type: string): boolean {
  if (/^(?:address|bool|string|function|bytes)$/.test(type)) return true
  const [, kind, digits] = /^(bytes|u?int)([1-9]\d*)$/.exec(type) ?? []
  const size = Number(digits)
  return kind === 'bytes' ? size <= 32 : kind !== undefined && size % 8 === 0 && size <= 256
}

/** Reduces a parameter to its canonical type: without its name, with `uint` as `uint256`. */
function toCanonicalType(parameter: string): string {
  const [, tuple, inner = '', name = '', arrays = '', rest = ''] =
    /^\s*(?:(?:tuple\s*)?(\((.*)\))|(\w+))((?:\[\d*\])*)(.*)$/s.exec(parameter) ?? []
  if (!/^(?:\s+payable)?(?:\s+indexed)?(?:\s+[A-Za-z_$][\w$]*)?\s*$/.test(rest)) throw toEventError('cannot be parsed')
  if (tuple !== undefined) return `(${toCanonicalTypes(inner)})${arrays}`
  const type = canonicalNames[name] ?? name
  if (!isElementary(type))
    throw toEventError(type === '' ? 'has a parameter without a type' : `has an unknown type: ${type}`)
  return `${type}${arrays}`
}

const toCanonicalTypes = (list: string): string => splitList(list).map(toCanonicalType).join(',')

/**
 * Computes the first topic of an event's logs: the hash of its signature.
 *
 * @param event - The event as in Solidity. Parameter names, `indexed`, `event` and a semicolon are optional; `uint` means `uint256`.
 * @throws {CliError} exit code 2 if it cannot be parsed.
 * @example
 * toEventTopic('Transfer(address indexed from, address indexed to, uint256 value)') // '0xddf252ad…'
 * @see Contract ABI specification, events
 */
export function toEventTopic(event: string): Hex {
  const [, name, list = ''] = /^\s*(?:event\s+)?([A-Za-z_$][\w$]*)\s*\((.*)\)\s*;?\s*$/s.exec(event) ?? []
  if (name === undefined) throw toEventError('cannot be parsed')
  const signature = `${name}(${toCanonicalTypes(list)})`
  return `0x${Buffer.from(keccak_256(new TextEncoder().encode(signature))).toString('hex')}`
}
