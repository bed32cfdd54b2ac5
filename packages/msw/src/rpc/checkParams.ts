import { RpcFailure } from './rpcFailure.ts'

/** What a param must be; with `?` it may be left out. */
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

/** Why a text is not hex of a given form, in the words of geth; undefined where it is. */
function hexFault(text: string, rule: keyof typeof goTypes): string | undefined {
  const type = goTypes[rule]
  // Numbers of blocks are read by other means than the rest, and told about more shortly.
  const inGo = (fault: string): string =>
    rule === 'block' ? fault : `json: cannot unmarshal ${fault} into Go value of type ${type}`
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

function blockFault(value: unknown): string | undefined {
  const named = (text: string): string | undefined => (tags.includes(text) ? undefined : hexFault(text, 'block'))
  if (typeof value === 'string') return value.length === 66 ? hexFault(value, 'hash') : named(value)
  const { blockHash, blockNumber } = Object(value) as { readonly blockHash?: unknown; readonly blockNumber?: unknown }
  if (blockHash !== undefined && blockNumber !== undefined) {
    return 'cannot specify both BlockHash and BlockNumber, choose one or the other'
  }
  if (typeof blockHash === 'string') return hexFault(blockHash, 'hash')
  if (typeof blockNumber === 'string') return named(blockNumber)
  return 'json: cannot unmarshal into Go value of type rpc.BlockNumberOrHash'
}

function fault(value: unknown, rule: ParamRule): string | undefined {
  if (rule === 'any') return undefined
  if (rule === 'block') return blockFault(value)
  if (rule === 'boolean') {
    return typeof value === 'boolean' ? undefined : 'json: cannot unmarshal non-boolean into Go value of type bool'
  }
  if (rule === 'object') return isObject(value) ? undefined : 'json: cannot unmarshal into Go value of an object'
  if (rule === 'slot') {
    if (typeof value === 'string' && /^0x[\da-f]{1,64}$/i.test(value)) return undefined
    return `invalid hex in storage key: ${JSON.stringify(value)}`
  }
  return typeof value === 'string'
    ? hexFault(value, rule)
    : `json: cannot unmarshal non-string into Go value of type ${goTypes[rule]}`
}

/**
 * Checks params as a node does.
 *
 * @throws {RpcFailure} -32602, in the words of geth.
 */
export function checkParams(params: readonly unknown[], rules: ParamRules): void {
  if (params.length > rules.length) throw new RpcFailure(-32_602, `too many arguments, want at most ${rules.length}`)
  for (const [index, rule] of rules.entries()) {
    const value = params[index]
    const optional = rule.endsWith('?')
    if (value == null) {
      if (optional) continue
      throw new RpcFailure(-32_602, `missing value for required argument ${index}`)
    }
    const found = fault(value, (optional ? rule.slice(0, -1) : rule) as ParamRule)
    if (found === undefined) continue
    // Of storage keys geth does not say which argument they are.
    throw new RpcFailure(-32_602, rule.startsWith('slot') ? found : `invalid argument ${index}: ${found}`)
  }
}
