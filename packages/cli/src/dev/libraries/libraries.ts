import { fetchLibrary } from './fetchLibrary.ts'
import type { Library } from './library.ts'

/** Every library that first calls are made through, in the order they are shown. */
export const libraries: readonly Library[] = [fetchLibrary]
