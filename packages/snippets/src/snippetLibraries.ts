/** A language of examples. */
export type SnippetLanguage = 'javascript' | 'typescript' | 'python' | 'shell'

/** A library of examples. Each belongs to one language. */
export type SnippetLibrary = 'ethers' | 'web3' | 'fetch' | 'viem' | 'web3.py' | 'curl'

/** A library, as an entry of a menu. */
export interface SnippetLibraryEntry {
  readonly id: SnippetLibrary
  readonly title: string
  readonly language: SnippetLanguage
  /** The Keyrail package for it. Missing if there is none. */
  readonly keyrail?: string
}

/** A language, as an entry of a menu. */
export interface SnippetLanguageEntry {
  readonly id: SnippetLanguage
  readonly title: string
  /** Its libraries, the default one first. */
  readonly libraries: readonly SnippetLibraryEntry[]
}

/**
 * All languages with their libraries, in menu order. The first of each is the default.
 *
 * @example
 * const libraries = snippetLanguages.flatMap((language) => language.libraries.map(({ title }) => title))
 */
export const snippetLanguages: readonly SnippetLanguageEntry[] = [
  {
    id: 'typescript',
    title: 'TypeScript',
    libraries: [{ id: 'viem', title: 'viem', language: 'typescript', keyrail: '@keyrail/viem' }],
  },
  {
    id: 'javascript',
    title: 'JavaScript',
    libraries: [
      { id: 'ethers', title: 'ethers', language: 'javascript', keyrail: '@keyrail/ethers' },
      { id: 'web3', title: 'web3.js', language: 'javascript', keyrail: '@keyrail/web3' },
      { id: 'fetch', title: 'fetch', language: 'javascript', keyrail: '@keyrail/fetch' },
    ],
  },
  {
    id: 'python',
    title: 'Python',
    libraries: [{ id: 'web3.py', title: 'web3.py', language: 'python', keyrail: 'keyrail' }],
  },
  { id: 'shell', title: 'Shell', libraries: [{ id: 'curl', title: 'curl', language: 'shell' }] },
]
