import { writeCurl } from './library/curl.ts'
import { writeEthers } from './library/ethers.ts'
import { writeFetch } from './library/fetch.ts'
import { writeViem } from './library/viem.ts'
import { writeWeb3 } from './library/web3.ts'
import { writeWeb3Py } from './library/web3Py.ts'
import { urlVariable } from './library/writer.ts'
import type { Writer } from './library/writer.ts'
import { readOptions } from './readOptions.ts'
import type { ProgramId } from './readOptions.ts'
import type { SnippetLibrary } from './snippetLibraries.ts'
import type { SnippetOptions } from './snippetOptions.ts'
import type { SnippetVariable } from './snippetVariable.ts'

/** An example call: a complete program. Returned by {@link snippet}. */
export interface Snippet {
  /** The source text of the program, ending with a line break. */
  readonly text: string
  /** The file name to save it under. */
  readonly fileName: string
  /** The command that installs its libraries. Missing if it needs none. */
  readonly install?: string
  /** The command that runs it in its folder, with the environment variables of a file `.env`. */
  readonly run: string
  /** The version that it needs, such as `Node 22 or later`. Missing if any supported version will do. */
  readonly needs?: string
  /** The environment variables that the program reads, the endpoint's first. */
  readonly environment: readonly SnippetVariable[]
}

const writers: Readonly<Record<SnippetLibrary, Writer>> = {
  ethers: writeEthers,
  web3: writeWeb3,
  fetch: writeFetch,
  viem: writeViem,
  'web3.py': writeWeb3Py,
  curl: writeCurl,
}

const fileNames: Readonly<Record<ProgramId, string>> = {
  latestBlock: 'latest-block',
  blockByNumber: 'block-by-number',
  balance: 'balance',
  transaction: 'transaction',
  receipt: 'receipt',
  contractLogs: 'contract-logs',
  contractRead: 'contract-read',
  gasPrice: 'gas-price',
  sendRawTransaction: 'send-raw-transaction',
  chainId: 'chain-id',
  subscribeBlocks: 'subscribe-blocks',
  call: 'call',
}

/**
 * Writes an example call, or a given one, as a program. By default it gets the latest block in TypeScript with viem.
 *
 * This function makes no call. No program contains a URL or a key: it reads them, and a private key or a signed transaction, from the environment.
 *
 * @param options - The method, the library and the endpoint of the program; see {@link SnippetOptions}.
 * @returns The program, and how to install and run it.
 * @throws {TypeError} if an option is invalid. The message names the option and how to fix it.
 * @example
 * const { text, fileName, run } = snippet({ address: { baseUrl: 'https://node.example/testnet' } })
 */
export function snippet(options: SnippetOptions): Snippet {
  const read = readOptions(options)
  const { lines, extension, run, needs, install, environment = [] } = writers[read.library.id](read)
  const fileName = `${fileNames[read.method].replaceAll('-', extension === 'py' ? '_' : '-')}.${extension}`
  return {
    text: `${lines.join('\n')}\n`,
    fileName,
    ...(install && { install }),
    run: run(fileName),
    ...(needs && { needs }),
    environment: [
      { name: urlVariable(read), what: 'the URL without the key', value: read.address.base },
      { name: 'KEYRAIL_API_KEY', what: 'the API key' },
      ...environment,
    ],
  }
}
