import { snippetLanguages } from './snippetLibraries.ts'
import type { SnippetLibraryEntry } from './snippetLibraries.ts'
import { snippetMethods } from './snippetMethods.ts'
import type { SnippetMethod } from './snippetMethods.ts'
import type { SnippetOptions } from './snippetOptions.ts'

/** The options as a library's writer takes them: complete, and safe to stand between quotes in any language. */
export interface ReadOptions {
  readonly method: SnippetMethod
  readonly library: SnippetLibraryEntry
  readonly withKeyrail: boolean
  /** `base` is what stands before `/v2/{key}` of an app, and before `/{key}` of an API key. */
  readonly address: { readonly kind: 'app' | 'apiKey'; readonly base: string }
  readonly apiKey: string | undefined
  readonly account: string
  readonly block: number
  readonly contract: string
}

const libraries = snippetLanguages.flatMap((language) => language.libraries)

/** Values come into a program's text. Nothing that could end a string in any of the languages is among these. */
const safe = {
  url: /^https?:\/\/[\w.~:/[\]%@-]+$/,
  key: /^[\w…•*-]{1,128}$/,
  address: /^0x[0-9a-fA-F]{40}$/,
}

/**
 * Reads what {@link snippet} was given.
 * @throws {TypeError} for each option that cannot be right, naming it and the mend.
 */
export function readOptions(options: SnippetOptions): ReadOptions {
  const { method = 'latestBlock', values = {}, apiKey } = options
  if (!snippetMethods.some(({ id }) => id === method)) {
    throw new TypeError(`method is not one of ${snippetMethods.map(({ id }) => id).join(', ')}`)
  }
  if (apiKey !== undefined && !safe.key.test(apiKey)) {
    // The key itself is never repeated.
    throw new TypeError('apiKey holds a character that no key has: did you paste the whole address?')
  }
  const { account = `0x${'0'.repeat(40)}`, block = 0, contract = '0xcA11bde05977b3631167028862bE2a173976CA11' } = values
  if (!safe.address.test(account)) throw new TypeError('values.account is no address: 0x and 40 hexadecimal digits')
  if (!safe.address.test(contract)) throw new TypeError('values.contract is no address: 0x and 40 hexadecimal digits')
  if (!Number.isSafeInteger(block) || block < 0) throw new TypeError('values.block is no block number: 0 or more')
  return {
    method,
    library: readLibrary(options),
    withKeyrail: options.withKeyrail ?? false,
    address: readAddress(options),
    apiKey,
    account,
    block,
    contract,
  }
}

function readLibrary({ language, library }: SnippetOptions): SnippetLibraryEntry {
  const ofLanguage = language === undefined ? libraries : libraries.filter((entry) => entry.language === language)
  const [first] = ofLanguage
  if (first === undefined) {
    throw new TypeError(`language is not one of ${snippetLanguages.map(({ id }) => id).join(', ')}`)
  }
  if (library === undefined) return first
  const found = ofLanguage.find(({ id }) => id === library)
  if (found === undefined) {
    throw new TypeError(`library is not one of ${ofLanguage.map(({ id }) => id).join(', ')}`)
  }
  return found
}

function readAddress({ address }: SnippetOptions): ReadOptions['address'] {
  const [name, base] =
    'baseUrl' in address ? (['baseUrl', address.baseUrl] as const) : (['rpcUrl', address.rpcUrl] as const)
  if (!safe.url.test(base) || !URL.canParse(base)) throw new TypeError(`address.${name} is no http or https URL`)
  if (base.endsWith('/')) throw new TypeError(`address.${name} ends with '/': leave it out`)
  return { kind: name === 'baseUrl' ? 'app' : 'apiKey', base }
}
