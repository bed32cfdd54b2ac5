import type { CallOptions, Hex } from '@keyrail/core'
import { decodeHex } from '../decode/decodeHex.ts'
import type { BlockInput } from '../encode/blockInput.ts'
import { encodeBlock } from '../encode/encodeBlock.ts'
import { encodeHex } from '../encode/encodeHex.ts'
import { encodeQuantity } from '../encode/encodeQuantity.ts'
import { bindCallOptions } from './bindCallOptions.ts'
import type { ReadClient } from './readClient.ts'

/**
 * Returns one slot of a contract's storage.
 *
 * @param client - A client.
 * @param options - The options below, and call options such as `signal` and `timeoutMs`.
 * @param options.address - The contract.
 * @param options.slot - The slot: a number, or 32 bytes for a slot of a mapping.
 * @param options.block - The block: a number, a tag or a hash. @default 'latest'
 * @returns The 32 bytes of the slot: zeros if it was never written.
 * @throws {KeyrailError} kind `invalidRequest` for a wrong option, `badResponse` for a malformed response, otherwise the failure of the
 *   call.
 * @throws The signal's own reason if you abort it.
 * @example
 * const word = await getStorageAt(client, { address: account, slot: 0n })
 */
export async function getStorageAt(
  client: ReadClient<'eth_getStorageAt'>,
  options: CallOptions & {
    readonly address: Hex
    readonly slot: bigint | number | Hex
    readonly block?: BlockInput | undefined
  },
): Promise<Hex> {
  const reader = bindCallOptions('getStorageAt', client, options, ['address', 'slot', 'block'])
  const { slot } = options
  const address = encodeHex(options.address, 'address', 20)
  // Always 32 bytes: some nodes reject a shorter key, and every node accepts the full one.
  const key: Hex =
    typeof slot === 'string'
      ? encodeHex(slot, 'slot', 32)
      : `0x${encodeQuantity(slot, 'slot').slice(2).padStart(64, '0')}`
  return decodeHex(await reader.eth_getStorageAt(address, key, encodeBlock(options.block)), 'storage', 32)
}
