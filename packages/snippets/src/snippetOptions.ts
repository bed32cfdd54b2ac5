import type { SnippetLanguage, SnippetLibrary } from './snippetLibraries.ts'
import type { SnippetMethod } from './snippetMethods.ts'

/** Where an example calls: the address without its key. */
export type SnippetAddress =
  | {
      /** Of an app: calls go to `{baseUrl}/v2/{apiKey}`. */
      readonly baseUrl: string
    }
  | {
      /** Of an API key: calls go to `{rpcUrl}/{apiKey}`. */
      readonly rpcUrl: string
    }

/** What an example holds at its top, for its reader to change. */
export interface SnippetValues {
  /** Whose balance. @default the zero address, which every chain has */
  readonly account?: string
  /** The number of a block. @default 0 */
  readonly block?: number
  /** A token's contract (ERC-20). @default 0xcA11bde05977b3631167028862bE2a173976CA11, a contract that stands on most chains */
  readonly contract?: string
}

/** Options of {@link snippet}. */
export interface SnippetOptions {
  /** What the program does. @default 'latestBlock' */
  readonly method?: SnippetMethod
  /** Left out: the language of the library, or JavaScript. */
  readonly language?: SnippetLanguage
  /** Left out: the first one of the language. */
  readonly library?: SnippetLibrary
  /** Whether it uses Keyrail's package for the library. Asked of a library that has none, nothing changes. @default false */
  readonly withKeyrail?: boolean
  /** Where it calls. */
  readonly address: SnippetAddress
  /**
   * The key, or what is to be seen in its place: it stands once, near the top. Left out, the program reads it from the environment,
   * as `KEYRAIL_API_KEY`.
   */
  readonly apiKey?: string
  /** What else stands at the top. */
  readonly values?: SnippetValues
}
