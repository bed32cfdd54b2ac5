import { refused } from './refused.ts'

/**
 * Checks that msw 3 can run here. On an older Node it fails at the first request, with an error that a client takes for a broken network.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the version that is needed and the one that runs.
 */
export function checkRuntime(): void {
  if ('withResolvers' in Promise) return
  const version = globalThis.process?.version ?? 'an older browser'
  throw refused(`msw 3 needs Node 22.12 or later, not ${version}`)
}
