import { snippetLanguages } from './snippetLibraries.ts'
import type { SnippetLibraryEntry } from './snippetLibraries.ts'
import { snippetMethods } from './snippetMethods.ts'
import type { SnippetMethod } from './snippetMethods.ts'
import type { SnippetCall, SnippetOptions } from './snippetOptions.ts'

/** The id of an example, or `call` for a given call. */
export type ProgramId = SnippetMethod | 'call'

/** The options with their defaults, validated: safe inside a string literal in any of the languages. */
export interface ReadOptions {
  readonly method: ProgramId
  /** The call to write; a call without params for an example. */
  readonly call: SnippetCall
  readonly library: SnippetLibraryEntry
  readonly withKeyrail: boolean
  /** `base` is the URL before `/v2/{key}` for an app, and before `/{key}` for an API key. */
  readonly address: { readonly kind: 'app' | 'apiKey'; readonly base: string }
  readonly symbol: string
  readonly account: string
  readonly block: number
  readonly contract: string
}

const libraries = snippetLanguages.flatMap((language) => language.libraries)

/** The allowed values in a program and its `.env` file. None of these characters can end a string literal in any of the languages. */
const safe = {
  url: /^https?:\/\/[\w.~:/[\]%@-]+$/,
  address: /^0x[0-9a-fA-F]{40}$/,
}

/**
 * Validates the options of {@link snippet} and adds their defaults.
 * @throws {TypeError} if an option is invalid. The message names the option and how to fix it.
 */
export function readOptions(options: SnippetOptions): ReadOptions {
  const { method = 'latestBlock', values = {}, call } = options
  if (!snippetMethods.some(({ id }) => id === method)) {
    throw new TypeError(`method must be one of ${snippetMethods.map(({ id }) => id).join(', ')}, not ${quote(method)}`)
  }
  if (call !== undefined && (typeof call.method !== 'string' || !Array.isArray(call.params))) {
    throw new TypeError('call must have a method, a string, and params, an array')
  }
  const { account = `0x${'0'.repeat(40)}`, block = 0, contract = '0xcA11bde05977b3631167028862bE2a173976CA11' } = values
  // The message must not repeat the value: it could be a private key.
  if (!safe.address.test(account)) throw new TypeError('values.account must be an address: 0x and 40 hex digits')
  if (!safe.address.test(contract)) throw new TypeError('values.contract must be an address: 0x and 40 hex digits')
  if (!Number.isSafeInteger(block) || block < 0)
    throw new TypeError(`values.block must be an integer from 0, not ${String(block)}`)
  return {
    method: call === undefined ? method : 'call',
    call: call ?? { method: '', params: [] },
    library: readLibrary(options),
    withKeyrail: call === undefined && (options.withKeyrail ?? false),
    address: readAddress(options),
    // Symbols of coins are free text. What remains cannot end a string literal.
    symbol: (options.symbol ?? 'ETH').replaceAll(/[^\p{L}\p{N}.+-]/gu, ''),
    account,
    block,
    contract,
  }
}

/** A value as JSON, for an error message. */
const quote = (value: unknown): string => JSON.stringify(value) ?? String(value)

function readLibrary({ language, library }: SnippetOptions): SnippetLibraryEntry {
  const ofLanguage = language === undefined ? libraries : libraries.filter((entry) => entry.language === language)
  const [first] = ofLanguage
  if (first === undefined) {
    throw new TypeError(
      `language must be one of ${snippetLanguages.map(({ id }) => id).join(', ')}, not ${quote(language)}`,
    )
  }
  if (library === undefined) return first
  const found = ofLanguage.find(({ id }) => id === library)
  if (found === undefined) {
    throw new TypeError(`library must be one of ${ofLanguage.map(({ id }) => id).join(', ')}, not ${quote(library)}`)
  }
  return found
}

function readAddress({ address }: SnippetOptions): ReadOptions['address'] {
  const [name, base] =
    'baseUrl' in address ? (['baseUrl', address.baseUrl] as const) : (['rpcUrl', address.rpcUrl] as const)
  if (!safe.url.test(base) || !URL.canParse(base)) {
    throw new TypeError(`address.${name} must be an http:// or https:// URL without query, fragment or credentials`)
  }
  if (base.endsWith('/')) throw new TypeError(`address.${name} ends with "/". Remove the slash.`)
  return { kind: name === 'baseUrl' ? 'app' : 'apiKey', base }
}
