import { ethersLibrary } from './ethersLibrary.ts'
import { fetchLibrary } from './fetchLibrary.ts'
import type { Library } from './library.ts'
import { viemLibrary } from './viemLibrary.ts'
import { web3Library } from './web3Library.ts'

/** Every library that first calls are made through, in the order they are shown. All but the first are shown where they are installed. */
export const libraries: readonly Library[] = [fetchLibrary, ethersLibrary, web3Library, viemLibrary]
