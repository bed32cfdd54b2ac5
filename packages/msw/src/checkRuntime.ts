import { invalidInput } from './invalidInput.ts'

/**
 * Checks that msw 3 can run here. On an older Node it would fail at the first request, and the client would report a network error.
 *
 * @throws {KeyrailError} kind `invalidRequest`, with the required version and the current one.
 */
export function checkRuntime(): void {
  if ('withResolvers' in Promise) return
  const version = globalThis.process?.version ?? 'an older browser'
  throw invalidInput(`msw 3 needs Node 22.12 or later, but this is ${version}`)
}
