import type { Address, BlockIdentifier, Bytes, Hash, Hex, StorageRequests } from '@keyrail/core'
import { lower, quantity, wordOf } from '../bytes/hex.ts'
import { at } from '../chain/worldState.ts'
import { method, stateBlockOf } from './method.ts'
import type { Method, NodeView } from './method.ts'

/** The code of a contract that has handlers and was given none: something, as callers look for. */
const someCode = '0xfe'

function codeAt(view: NodeView, address: Address, number: number): Hex {
  const code = view.chain.read(at.code(lower(address)), number) as Hex
  return code === '0x' && view.isContract(lower(address)) ? someCode : code
}

/** What accounts hold. */
export const stateMethods: Readonly<Record<string, Method>> = {
  eth_getBalance: method<[Address, BlockIdentifier?]>(['address', 'block?'], (view, address, block) =>
    quantity(view.chain.read(at.balance(lower(address)), stateBlockOf(view, block)) as bigint),
  ),
  eth_getTransactionCount: method<[Address, BlockIdentifier?]>(['address', 'block?'], (view, address, block) =>
    quantity(
      block === 'pending'
        ? view.chain.pool.nextNonce(lower(address), view.chain.read)
        : (view.chain.read(at.nonce(lower(address)), stateBlockOf(view, block)) as number),
    ),
  ),
  eth_getCode: method<[Address, BlockIdentifier?]>(['address', 'block?'], (view, address, block) =>
    codeAt(view, address, stateBlockOf(view, block)),
  ),
  eth_getStorageAt: method<[Address, Hash, BlockIdentifier?]>(
    ['address', 'slot', 'block?'],
    (view, address, slot, block) => view.chain.read(at.slot(lower(address), wordOf(slot)), stateBlockOf(view, block)),
  ),
  eth_getStorageValues: method<[StorageRequests, BlockIdentifier?]>(['object', 'block?'], (view, requests, block) => {
    const number = stateBlockOf(view, block)
    return Object.fromEntries(
      Object.entries(requests).map(([address, slots]) => [
        address,
        (slots as readonly Hash[]).map(
          (slot): Bytes => view.chain.read(at.slot(lower(address as Address), wordOf(slot)), number) as Bytes,
        ),
      ]),
    )
  }),
  eth_getAccountInfo: method<[Address, BlockIdentifier]>(['address', 'block'], (view, address, block) => {
    const number = stateBlockOf(view, block)
    const read = (key: string): bigint => BigInt(view.chain.read(key, number))
    return {
      balance: quantity(read(at.balance(lower(address)))),
      nonce: quantity(read(at.nonce(lower(address)))),
      code: codeAt(view, address, number),
    }
  }),
}
