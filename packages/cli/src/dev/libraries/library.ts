import type { ApiKeyAddressOptions, AppAddressOptions } from '@keyrail/core'
import type { BlockHead } from '../../node/askNode.ts'

/** A library that makes first calls, opened on one address. */
export interface OpenLibrary {
  /** The address as it may be printed. */
  readonly label: string
  readonly latestBlock: () => Promise<BlockHead>
  readonly close: () => void
}

/** A library that `keyrail dev` shows at work. A new one is one file here and one row in `libraries.ts`. */
export interface Library {
  /** Its package's name. */
  readonly name: string
  readonly open: (address: AppAddressOptions | ApiKeyAddressOptions) => OpenLibrary | Promise<OpenLibrary>
}
