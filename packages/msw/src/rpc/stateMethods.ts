import type { Address, Hash, Hex } from '@keyrail/core'
import type { BlockIdentifier, Bytes, StorageRequests } from '@keyrail/core/schema'
import { lower, toQuantity, toWord } from '../bytes/hex.ts'
import { stateKey } from '../chain/worldState.ts'
import { method, resolveStateBlock } from './method.ts'
import type { Method, NodeView } from './method.ts'

/** The code of a mocked contract. Not empty, because clients check whether a contract exists. */
const placeholderCode = '0xfe'

function getCode(view: NodeView, address: Address, number: number): Hex {
  const code = view.chain.read(stateKey.code(lower(address)), number) as Hex
  return code === '0x' && view.isContract(lower(address)) ? placeholderCode : code
}

/** The methods for balances, nonces, code and storage. */
export const stateMethods: Readonly<Record<string, Method>> = {
  eth_getBalance: method<[Address, BlockIdentifier?]>(['address', 'block?'], (view, address, block) =>
    toQuantity(view.chain.read(stateKey.balance(lower(address)), resolveStateBlock(view, block)) as bigint),
  ),
  eth_getTransactionCount: method<[Address, BlockIdentifier?]>(['address', 'block?'], (view, address, block) =>
    toQuantity(
      block === 'pending'
        ? view.chain.pool.nextNonce(lower(address), view.chain.read)
        : (view.chain.read(stateKey.nonce(lower(address)), resolveStateBlock(view, block)) as number),
    ),
  ),
  eth_getCode: method<[Address, BlockIdentifier?]>(['address', 'block?'], (view, address, block) =>
    getCode(view, address, resolveStateBlock(view, block)),
  ),
  eth_getStorageAt: method<[Address, Hash, BlockIdentifier?]>(
    ['address', 'slot', 'block?'],
    (view, address, slot, block) =>
      view.chain.read(stateKey.slot(lower(address), toWord(slot)), resolveStateBlock(view, block)),
  ),
  eth_getStorageValues: method<[StorageRequests, BlockIdentifier?]>(['object', 'block?'], (view, requests, block) => {
    const number = resolveStateBlock(view, block)
    return Object.fromEntries(
      Object.entries(requests).map(([address, slots]) => [
        address,
        (slots as readonly Hash[]).map(
          (slot): Bytes => view.chain.read(stateKey.slot(lower(address as Address), toWord(slot)), number) as Bytes,
        ),
      ]),
    )
  }),
  eth_getAccountInfo: method<[Address, BlockIdentifier]>(['address', 'block'], (view, address, block) => {
    const number = resolveStateBlock(view, block)
    const read = (key: string): bigint => BigInt(view.chain.read(key, number))
    return {
      balance: toQuantity(read(stateKey.balance(lower(address)))),
      nonce: toQuantity(read(stateKey.nonce(lower(address)))),
      code: getCode(view, address, number),
    }
  }),
}
