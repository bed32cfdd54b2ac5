import type { SnippetLanguage, SnippetLibrary } from './snippetLibraries.ts'
import type { SnippetMethod } from './snippetMethods.ts'

/** The endpoint of an example: its URL without the key. */
export type SnippetAddress =
  | {
      /** The base URL of an app: calls go to `{baseUrl}/v2/{apiKey}`. */
      readonly baseUrl: string
    }
  | {
      /** The RPC URL of an API key: calls go to `{rpcUrl}/{apiKey}`. */
      readonly rpcUrl: string
    }

/** The values at the top of an example, for readers to change. */
export interface SnippetValues {
  /** The account whose balance is read. @default the zero address, which exists on every chain */
  readonly account?: string
  /** The number of a block. @default 0 */
  readonly block?: number
  /** A token's contract (ERC-20). @default 0xcA11bde05977b3631167028862bE2a173976CA11, a contract that is deployed on most chains */
  readonly contract?: string
}

/** A JSON-RPC call. */
export interface SnippetCall {
  /** The name of its method. Any name: the node may not have it. */
  readonly method: string
  /** Its params, as JSON values. */
  readonly params: readonly unknown[]
}

/** Options of {@link snippet}. */
export interface SnippetOptions {
  /** The example. @default 'latestBlock' */
  readonly method?: SnippetMethod
  /** A call to write in place of an example. `method`, `values`, `symbol` and `withKeyrail` are ignored then. */
  readonly call?: SnippetCall
  /** The language. @default the language of `library`, or TypeScript */
  readonly language?: SnippetLanguage
  /** The library. @default the first one of `language` */
  readonly library?: SnippetLibrary
  /** Whether it uses Keyrail's package for the library. Ignored if the library has none. @default false */
  readonly withKeyrail?: boolean
  /** The endpoint that the program calls. The program reads it from the environment. */
  readonly address: SnippetAddress
  /**
   * The symbol of the network's coin, for amounts that the program prints. Only its letters, digits, `.`, `+` and `-` are used.
   * @default 'ETH'
   */
  readonly symbol?: string
  /** Other values at the top of the program. */
  readonly values?: SnippetValues
}
