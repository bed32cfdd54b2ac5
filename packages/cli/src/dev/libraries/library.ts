import type { ApiKeyUrlOptions, AppUrlOptions } from '@keyrail/core'
import type { BlockHead } from '../../node/callNode.ts'

/** Where a library makes its first call. The chain id is known, so that none has to ask for it. */
export type FirstAddress = (AppUrlOptions | ApiKeyUrlOptions) & { readonly chainId: number }

/** A library that makes first calls, opened on one address. */
export interface OpenLibrary {
  readonly latestBlock: () => Promise<BlockHead>
  readonly close: () => void
}

/** A library that `keyrail dev` shows at work. A new one is one file here and one row in `libraries.ts`. */
export interface Library {
  /** Its package's name. */
  readonly name: string
  /** Opens the library on an address. Loading takes longer than a call, so it is done once, before any call is timed. */
  readonly load: () => Promise<(address: FirstAddress) => OpenLibrary>
}
