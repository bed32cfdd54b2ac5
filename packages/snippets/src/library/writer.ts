import type { ReadOptions } from '../readOptions.ts'
import type { SnippetCall } from '../snippetOptions.ts'
import type { SnippetVariable } from '../snippetVariable.ts'

/** A program as lines, with its commands. */
export interface Written {
  readonly lines: readonly string[]
  /** The file extension, without a dot. */
  readonly extension: string
  /** Returns the command that runs a file with the variables of `.env`. */
  readonly run: (fileName: string) => string
  /** The version that it needs, such as `Node 22 or later`; undefined if any supported version will do. */
  readonly needs?: string
  readonly install?: string
  readonly environment?: readonly SnippetVariable[]
}

/** Writes programs for one library. */
export type Writer = (options: ReadOptions) => Written

/** Joins the non-empty parts of a program, with an empty line between them. */
export function paragraphs(...parts: readonly (readonly string[])[]): string[] {
  return parts.filter((part) => part.length > 0).flatMap((part, at) => (at === 0 ? part : ['', ...part]))
}

const escapeUnits = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/**
 * A value as JSON, which is also valid JavaScript. Invisible characters are escaped: they could make a program look different from what it does,
 * and a call can be from anyone.
 */
export const toJson = (value: unknown): string =>
  (JSON.stringify(value) ?? 'null').replaceAll(/[\p{Cc}\p{Cf}]/gu, escapeUnits)

/** A method as code. */
const jsMethod = ({ method }: SnippetCall): string => (/^\w*$/.test(method) ? `'${method}'` : toJson(method))

/**
 * A call as the arguments of a JavaScript function, as code.
 * @param spread - `...` if each param is an argument.
 */
export const jsArguments = (call: SnippetCall, spread = ''): string =>
  `${jsMethod(call)}, ${spread}${toJson(call.params)}`

/** A call as a JavaScript object, as code. */
export const jsRequest = (call: SnippetCall): string => `{ method: ${jsMethod(call)}, params: ${toJson(call.params)} }`

/** The line that prints the result of a call in a JavaScript program. */
export const jsPrint = 'console.log(JSON.stringify(result, null, 2))'

/**
 * Runs a program with Node.
 * @param extension - `mjs` for JavaScript, `mts` for TypeScript, which Node runs without its types from 22.18 on.
 */
export const inNode = (extension: 'mjs' | 'mts'): Pick<Written, 'extension' | 'run' | 'needs'> => ({
  extension,
  run: (fileName) => `node --env-file=.env ${fileName}`,
  needs: `Node ${extension === 'mts' ? '22.18' : '22'} or later`,
})

/** Runs a program with an interpreter that does not read `.env`. The parentheses keep the variables out of the user's shell. */
export const runWith =
  (interpreter: string) =>
  (fileName: string): string =>
    `(set -a; . ./.env; ${interpreter} ${fileName})`

/** The environment variable with the URL before the key. */
export const urlVariable = ({ address }: ReadOptions): string =>
  address.kind === 'app' ? 'KEYRAIL_BASE_URL' : 'KEYRAIL_RPC_URL'

/** The part of the URL between that variable and the key. */
export const keyPath = ({ address }: ReadOptions): string => (address.kind === 'app' ? '/v2/' : '/')

/** The lines that read the endpoint in a JavaScript program. */
export function jsEndpoint(options: ReadOptions): string[] {
  const url = urlVariable(options)
  return [
    `const { ${url}, KEYRAIL_API_KEY } = process.env`,
    `if (!${url} || !KEYRAIL_API_KEY) throw new Error('Set ${url} and KEYRAIL_API_KEY')`,
  ]
}

/** The URL in a JavaScript program, as code: that of the WebSocket if the program subscribes. */
export function jsUrl(options: ReadOptions): string {
  const toSocket = options.method === 'subscribeBlocks' ? ".replace('http', 'ws')" : ''
  return `\`\${${urlVariable(options)}${toSocket}}${keyPath(options)}\${KEYRAIL_API_KEY}\``
}

/** The options of a Keyrail package in a JavaScript program, as code. With `webSocket()`, which is to be imported, if the program subscribes. */
export function jsOptions(options: ReadOptions): string {
  const url = `${options.address.kind === 'app' ? 'baseUrl' : 'rpcUrl'}: ${urlVariable(options)}`
  return `{ ${url}, apiKey: KEYRAIL_API_KEY${options.method === 'subscribeBlocks' ? ', webSocket: webSocket()' : ''} }`
}

/** The import for {@link jsOptions}. */
export const importWebSocket = "import { webSocket } from '@keyrail/core'"

/** The environment variable for libraries that can sign. */
export const privateKey = { name: 'PRIVATE_KEY', what: 'the private key of an account that pays the fee' }

/** The environment variable for libraries that cannot sign. */
export const signedTransaction = { name: 'SIGNED_TRANSACTION', what: 'a signed transaction, as 0x and its bytes' }
