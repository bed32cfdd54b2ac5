/** A language that examples are written in. */
export type SnippetLanguage = 'javascript' | 'typescript' | 'python' | 'shell'

/** A library that examples use. Each belongs to one language. */
export type SnippetLibrary = 'ethers' | 'web3' | 'fetch' | 'viem' | 'web3.py' | 'curl'

/** A library to choose. */
export interface SnippetLibraryEntry {
  readonly id: SnippetLibrary
  readonly title: string
  readonly language: SnippetLanguage
  /** Keyrail's own package for it. Left out where there is none. */
  readonly keyrail?: string
}

/** A language to choose. */
export interface SnippetLanguageEntry {
  readonly id: SnippetLanguage
  readonly title: string
  /** Its libraries, the default one first. */
  readonly libraries: readonly SnippetLibraryEntry[]
}

/**
 * The languages, each with its libraries, in the order to offer them in. The first of each is the default.
 *
 * @example
 * const libraries = snippetLanguages.flatMap((language) => language.libraries.map(({ title }) => title))
 */
export const snippetLanguages: readonly SnippetLanguageEntry[] = [
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
    id: 'typescript',
    title: 'TypeScript',
    libraries: [{ id: 'viem', title: 'viem', language: 'typescript', keyrail: '@keyrail/viem' }],
  },
  {
    id: 'python',
    title: 'Python',
    libraries: [{ id: 'web3.py', title: 'web3.py', language: 'python', keyrail: 'keyrail' }],
  },
  { id: 'shell', title: 'Shell', libraries: [{ id: 'curl', title: 'curl', language: 'shell' }] },
]
