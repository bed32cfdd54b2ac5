import { RpcError } from './rpcError.ts'

/** The type of a param. With `?` it is optional. */
export type ParamRule = 'address' | 'hash' | 'slot' | 'quantity' | 'bytes' | 'boolean' | 'object' | 'block' | 'any'
export type ParamRules = readonly (ParamRule | `${ParamRule}?`)[]

const tags = ['latest', 'earliest', 'pending', 'safe', 'finalized']
const goTypes = {
  address: 'common.Address',
  hash: 'common.Hash',
  bytes: 'hexutil.Bytes',
  quantity: 'hexutil.Uint64',
  block: 'hexutil.Uint64',
}

/** The problem of a hex string, with geth's message; undefined if it is valid. */
function hexProblem(text: string, rule: keyof typeof goTypes): string | undefined {
  const type = goTypes[rule]
  // geth parses block numbers separately, with shorter messages.
  const inGo = (problem: string): string =>
    rule === 'block' ? problem : `json: cannot unmarshal ${problem} into Go value of type ${type}`
  if (text === '' && rule !== 'bytes') return inGo('empty hex string')
  if (!text.startsWith('0x')) return inGo('hex string without 0x prefix')
  const digits = text.slice(2)
  if (rule === 'quantity' || rule === 'block') {
    if (digits === '') return inGo('hex string "0x"')
    if (/^0./.test(digits)) return inGo('hex number with leading zero digits')
    if (!/^[\da-f]+$/i.test(digits)) return inGo('invalid hex string')
    return digits.length > 16 ? inGo('hex number > 64 bits') : undefined
  }
  if (!/^[\da-f]*$/i.test(digits)) return inGo('invalid hex string')
  if (digits.length % 2) return inGo('hex string of odd length')
  const length = { address: 40, hash: 64, bytes: digits.length }[rule]
  return digits.length === length ? undefined : `hex string has length ${digits.length}, want ${length} for ${type}`
}

const isObject = (value: unknown): boolean => Object(value) === value && !Array.isArray(value)

function blockProblem(value: unknown): string | undefined {
  const named = (text: string): string | undefined => (tags.includes(text) ? undefined : hexProblem(text, 'block'))
  if (typeof value === 'string') return value.length === 66 ? hexProblem(value, 'hash') : named(value)
  const { blockHash, blockNumber } = Object(value) as { readonly blockHash?: unknown; readonly blockNumber?: unknown }
  if (blockHash !== undefined && blockNumber !== undefined) {
    return 'cannot specify both BlockHash and BlockNumber, choose one or the other'
  }
  if (typeof blockHash === 'string') return hexProblem(blockHash, 'hash')
  if (typeof blockNumber === 'string') return named(blockNumber)
  return 'json: cannot unmarshal into Go value of type rpc.BlockNumberOrHash'
}

function findProblem(value: unknown, rule: ParamRule): string | undefined {
  if (rule === 'any') return undefined
  if (rule === 'block') return blockProblem(value)
  if (rule === 'boolean') {
    return typeof value === 'boolean' ? undefined : 'json: cannot unmarshal non-boolean into Go value of type bool'
  }
  if (rule === 'object') return isObject(value) ? undefined : 'json: cannot unmarshal into Go value of an object'
  if (rule === 'slot') {
    if (typeof value === 'string' && /^0x[\da-f]{1,64}$/i.test(value)) return undefined
    return `invalid hex in storage key: ${JSON.stringify(value)}`
  }
  return typeof value === 'string'
    ? hexProblem(value, rule)
    : `json: cannot unmarshal non-string into Go value of type ${goTypes[rule]}`
}

/**
 * Checks params as geth does.
 *
 * @throws {RpcError} -32602, with geth's message.
 */
export function checkParams(params: readonly unknown[], rules: ParamRules): void {
  if (params.length > rules.length) throw new RpcError(-32_602, `too many arguments, want at most ${rules.length}`)
  for (const [index, rule] of rules.entries()) {
    const value = params[index]
    const optional = rule.endsWith('?')
    if (value == null) {
      if (optional) continue
      throw new RpcError(-32_602, `missing value for required argument ${index}`)
    }
    const problem = findProblem(value, (optional ? rule.slice(0, -1) : rule) as ParamRule)
    if (problem === undefined) continue
    // For storage keys, geth does not name the argument.
    throw new RpcError(-32_602, rule.startsWith('slot') ? problem : `invalid argument ${index}: ${problem}`)
  }
}
