import type { Hex } from '@keyrail/core'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { wrongUsage } from '../cliError.ts'

const wrong = (message: string): Error =>
  wrongUsage(`--event ${message}`, "it is written as in Solidity: --event 'Transfer(address,address,uint256)'")

/** Cuts a list at the commas that stand in no parentheses. */
function parts(list: string): string[] {
  const found: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < list.length; at++) {
    const letter = list[at]
    if (letter === '(') depth++
    if (letter === ')' && --depth < 0) break
    if (letter === ',' && depth === 0) {
      found.push(list.slice(from, at))
      from = at + 1
    }
  }
  if (depth !== 0) throw wrong('cannot be read')
  return list.trim() === '' ? [] : [...found, list.slice(from)]
}

const wholeNames: Readonly<Record<string, string>> = { uint: 'uint256', int: 'int256' }

function isElementary(type: string): boolean {
  if (/^(?:address|bool|string|function|bytes)$/.test(type)) return true
  const [, kind, digits] = /^(bytes|u?int)([1-9]\d*)$/.exec(type) ?? []
  const size = Number(digits)
  return kind === 'bytes' ? size <= 32 : kind !== undefined && size % 8 === 0 && size <= 256
}

/** One parameter's type as it is hashed: no name, nothing that is short for something else. */
function typeOf(parameter: string): string {
  const [, tuple, inner = '', name = '', arrays = '', rest = ''] =
    /^\s*(?:(?:tuple\s*)?(\((.*)\))|(\w+))((?:\[\d*\])*)(.*)$/s.exec(parameter) ?? []
  if (!/^(?:\s+payable)?(?:\s+indexed)?(?:\s+[A-Za-z_$][\w$]*)?\s*$/.test(rest)) throw wrong('cannot be read')
  if (tuple !== undefined) return `(${typesOf(inner)})${arrays}`
  const type = wholeNames[name] ?? name
  if (!isElementary(type)) throw wrong(type === '' ? 'lacks a type' : `names ${type}, which is no type of the ABI`)
  return `${type}${arrays}`
}

const typesOf = (list: string): string => parts(list).map(typeOf).join(',')

/**
 * The first topic of an event's logs: the hash of its signature.
 *
 * @param event - The event as in Solidity. Names of parameters, `indexed`, `event` and a semicolon may stand there; `uint` is `uint256`.
 * @throws {CliError} exit code 2, saying what cannot be read.
 * @example
 * toEventTopic('Transfer(address indexed from, address indexed to, uint256 value)') // '0xddf252ad…'
 * @see Contract ABI specification, events
 */
export function toEventTopic(event: string): Hex {
  const [, name, list = ''] = /^\s*(?:event\s+)?([A-Za-z_$][\w$]*)\s*\((.*)\)\s*;?\s*$/s.exec(event) ?? []
  if (name === undefined) throw wrong('cannot be read')
  const signature = `${name}(${typesOf(list)})`
  return `0x${Buffer.from(keccak_256(new TextEncoder().encode(signature))).toString('hex')}`
}
