import type { ReadOptions } from '../readOptions.ts'

/** A program before it is one text. */
export interface Written {
  readonly lines: readonly string[]
  /** Of its file, without a dot. */
  readonly extension: string
  /** What runs a file. */
  readonly run: string
  /** What that needs, where not every version will do. */
  readonly needs?: string
  readonly install?: string
  readonly environment?: readonly { readonly name: string; readonly what: string }[]
}

/** Writes programs for one library. */
export type Writer = (options: ReadOptions) => Written

/** Joins the parts of a program with an empty line between, and leaves out what is empty. */
export function paragraphs(...parts: readonly (readonly string[])[]): string[] {
  return parts.filter((part) => part.length > 0).flatMap((part, at) => (at === 0 ? part : ['', ...part]))
}

/** The line of a JavaScript program that holds the key. */
export function jsKey({ apiKey }: ReadOptions): string {
  return apiKey === undefined ? "const apiKey = process.env['KEYRAIL_API_KEY'] ?? ''" : `const apiKey = '${apiKey}'`
}

/** The address in a JavaScript program, as code. */
export function jsUrl({ address }: ReadOptions): string {
  return `\`${address.base}${address.kind === 'app' ? '/v2' : ''}/\${apiKey}\``
}

/** The options of our own packages in a JavaScript program, as code. */
export function jsOptions({ address }: ReadOptions): string {
  return `{ ${address.kind === 'app' ? 'baseUrl' : 'rpcUrl'}: '${address.base}', apiKey }`
}

/** What signs a transaction where a library can. */
export const privateKey = { name: 'PRIVATE_KEY', what: 'the private key of an account that pays the fee' }

/** What is sent where no library can sign. */
export const signedTransaction = { name: 'SIGNED_TRANSACTION', what: 'a signed transaction, as 0x and its bytes' }
