import { checkNames } from '@keyrail/core/internal'
import type { Hex } from '@keyrail/core'
import { decodeHex } from '../decode/decodeHex.ts'
import type { BlockInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import { encodeQuantity } from '../encode/encodeQuantity.ts'
import type { ReadClient } from './readClient.ts'

/**
 * One slot of a contract's storage.
 *
 * @param client - A client.
 * @param options.address - The contract.
 * @param options.slot - The slot: a number, or 32 bytes for the slot of a mapping.
 * @param options.block - At which block: a number, a tag or a hash. @default 'latest'
 * @returns The 32 bytes that stand there: zeros where nothing was ever written.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a broken answer; else as the call.
 * @example
 * const word = await getStorageAt(client, { address: account, slot: 0n })
 */
export async function getStorageAt(
  client: ReadClient<'eth_getStorageAt'>,
  options: { readonly address: Hex; readonly slot: bigint | number | Hex; readonly block?: BlockInput | undefined },
): Promise<Hex> {
  checkNames('getStorageAt', options, ['address', 'slot', 'block'])
  const { slot } = options
  const address = encodeHex(options.address, 'address', 20)
  // Always 32 bytes: some nodes refuse a shorter key here, and none the full one.
  const key: Hex =
    typeof slot === 'string'
      ? encodeHex(slot, 'slot', 32)
      : `0x${encodeQuantity(slot, 'slot').slice(2).padStart(64, '0')}`
  return decodeHex(await client.eth_getStorageAt(address, key, encodeBlock(options.block)), 'storage', 32)
}
