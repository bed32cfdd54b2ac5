import { writeCurl } from './library/curl.ts'
import { writeEthers } from './library/ethers.ts'
import { writeFetch } from './library/fetch.ts'
import { writeViem } from './library/viem.ts'
import { writeWeb3 } from './library/web3.ts'
import { writeWeb3Py } from './library/web3Py.ts'
import type { Writer } from './library/writer.ts'
import { readOptions } from './readOptions.ts'
import type { SnippetLibrary } from './snippetLibraries.ts'
import type { SnippetMethod } from './snippetMethods.ts'
import type { SnippetOptions } from './snippetOptions.ts'

/** An example call: a program that runs as it stands. */
export interface Snippet {
  /** The program, with a line break at its end. */
  readonly text: string
  /** What to save it as. */
  readonly fileName: string
  /** What installs its libraries. Left out where it needs none. */
  readonly install?: string
  /** What runs it, in its folder. */
  readonly run: string
  /** What that needs, as in `Node 24`. Left out where any version in use will do. */
  readonly needs?: string
  /** What is to stand in the environment first. */
  readonly environment: readonly { readonly name: string; readonly what: string }[]
}

const writers: Readonly<Record<SnippetLibrary, Writer>> = {
  ethers: writeEthers,
  web3: writeWeb3,
  fetch: writeFetch,
  viem: writeViem,
  'web3.py': writeWeb3Py,
  curl: writeCurl,
}

const fileNames: Readonly<Record<SnippetMethod, string>> = {
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
}

/**
 * Writes an example call. Without a choice: get the latest block, in JavaScript, by ethers.
 *
 * It makes no call itself. A transaction to send is signed where the program runs, or before it: no example holds a private key.
 *
 * @param options - What it does, by which library, and where it calls.
 * @returns The program, and how to run it.
 * @throws {TypeError} for an option that cannot be right, naming it and the mend.
 * @example
 * const { text, fileName, run } = snippet({ address: { baseUrl: 'https://node.example/testnet' }, apiKey: 'kr_a…' })
 */
export function snippet(options: SnippetOptions): Snippet {
  const read = readOptions(options)
  const { lines, extension, run, needs, install, environment = [] } = writers[read.library.id](read)
  const fileName = `${fileNames[read.method].replaceAll('-', extension === 'py' ? '_' : '-')}.${extension}`
  return {
    text: `${lines.join('\n')}\n`,
    fileName,
    ...(install && { install }),
    run: `${run} ${fileName}`,
    ...(needs && { needs }),
    environment: [
      ...(read.apiKey === undefined ? [{ name: 'KEYRAIL_API_KEY', what: 'the API key' }] : []),
      ...environment,
    ],
  }
}
