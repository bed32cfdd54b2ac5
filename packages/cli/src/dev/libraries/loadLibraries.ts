import type { FirstEndpoint, Library, OpenLibrary } from './libraries.ts'

/** An installed library. */
export interface LoadedLibrary {
  readonly name: string
  readonly open: (endpoint: FirstEndpoint) => OpenLibrary
}

const isMissing = (error: unknown): boolean =>
  ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '')

/**
 * Loads the libraries that are installed. The CLI only depends on the first one: the others are many times its own size.
 *
 * @param libraries - The libraries to look for.
 * @returns The installed ones, in the same order. If loading fails for another reason, `open` throws that error.
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
