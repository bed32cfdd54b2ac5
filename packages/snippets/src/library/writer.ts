import type { ReadOptions } from '../readOptions.ts'
import type { SnippetCall } from '../snippetOptions.ts'

/** A program as lines, with its commands. */
export interface Written {
  readonly lines: readonly string[]
  /** The file extension, without a dot. */
  readonly extension: string
  /** The command that runs a file. */
  readonly run: string
  /** The version that it needs, such as `Node 24`; undefined if any supported version will do. */
  readonly needs?: string
  readonly install?: string
  readonly environment?: readonly { readonly name: string; readonly what: string }[]
}

/** Writes programs for one library. */
export type Writer = (options: ReadOptions) => Written

/** Joins the non-empty parts of a program, with an empty line between them. */
export function paragraphs(...parts: readonly (readonly string[])[]): string[] {
  return parts.filter((part) => part.length > 0).flatMap((part, at) => (at === 0 ? part : ['', ...part]))
}

/** A method as code. A word needs no escapes, and JSON is valid JavaScript. */
const jsMethod = ({ method }: SnippetCall): string => (/^\w*$/.test(method) ? `'${method}'` : JSON.stringify(method))

/**
 * A call as the arguments of a JavaScript function, as code.
 * @param spread - `...` if each param is an argument.
 */
export const jsArguments = (call: SnippetCall, spread = ''): string =>
  `${jsMethod(call)}, ${spread}${JSON.stringify(call.params)}`

/** A call as a JavaScript object, as code. */
export const jsRequest = (call: SnippetCall): string =>
  `{ method: ${jsMethod(call)}, params: ${JSON.stringify(call.params)} }`

/** The line that prints the result of a call in a JavaScript program. */
export const jsPrint = 'console.log(JSON.stringify(result, null, 2))'

/** The line with the key in a JavaScript program. */
export function jsKey({ apiKey }: ReadOptions): string {
  return apiKey === undefined ? "const apiKey = process.env['KEYRAIL_API_KEY'] ?? ''" : `const apiKey = '${apiKey}'`
}

/** The URL in a JavaScript program, as code. */
export function jsUrl({ address }: ReadOptions): string {
  return `\`${address.base}${address.kind === 'app' ? '/v2' : ''}/\${apiKey}\``
}

/** Converts the URL in code to that of the WebSocket. */
export const toSocketUrl = (code: string): string => code.replace('http', 'ws')

/** The options of a Keyrail package in a JavaScript program, as code. With `webSocket()`, which is to be imported, if the program subscribes. */
export function jsOptions({ address, method }: ReadOptions): string {
  const options = `${address.kind === 'app' ? 'baseUrl' : 'rpcUrl'}: '${address.base}', apiKey`
  return `{ ${options}${method === 'subscribeBlocks' ? ', webSocket: webSocket()' : ''} }`
}

/** The import for {@link jsOptions}. */
export const importWebSocket = "import { webSocket } from '@keyrail/core'"

/** The environment variable for libraries that can sign. */
export const privateKey = { name: 'PRIVATE_KEY', what: 'the private key of an account that pays the fee' }

/** The environment variable for libraries that cannot sign. */
export const signedTransaction = { name: 'SIGNED_TRANSACTION', what: 'a signed transaction, as 0x and its bytes' }
