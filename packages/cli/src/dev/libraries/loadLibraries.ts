import type { FirstAddress, Library, OpenLibrary } from './library.ts'

/** A library that is there. */
export interface LoadedLibrary {
  readonly name: string
  readonly open: (address: FirstAddress) => OpenLibrary
}

const isMissing = (error: unknown): boolean =>
  ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '')

/**
 * Loads the libraries that are installed. The command does not bring any but the first: they weigh many times what it does.
 *
 * @param libraries - What to look for.
 * @returns Those that are there, in the same order. One that cannot be loaded says so when it is opened.
 */
export async function loadLibraries(libraries: readonly Library[]): Promise<readonly LoadedLibrary[]> {
  const loaded: LoadedLibrary[] = []
  for (const { name, load } of libraries) {
    try {
      loaded.push({ name, open: await load() })
    } catch (error) {
      if (isMissing(error)) continue
      const open = (): never => {
        throw error
      }
      loaded.push({ name, open })
    }
  }
  return loaded
}
