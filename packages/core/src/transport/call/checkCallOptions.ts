import { check, checkNames, checkRange } from '../../failure/check.ts'
import type { CallOptions, Priority } from './call.ts'
import { checkTimeout } from '../deadline.ts'

const names: readonly (keyof CallOptions)[] = ['signal', 'timeoutMs', 'retries', 'priority', 'minBlock']
const priorities: readonly (Priority | undefined)[] = ['write', 'read', 'poll', undefined]

/**
 * Checks the options of one call.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and how to fix it.
 */
export function checkCallOptions(options: CallOptions): void {
  checkNames('a call', options, names)
  const { signal, timeoutMs, retries, priority, minBlock } = options
  check(
    !signal || 'aborted' in Object(signal),
    'signal must be an AbortSignal: pass controller.signal, not the controller',
  )
  checkTimeout(timeoutMs)
  checkRange('retries', retries, 0, 1e9)
  check(priorities.includes(priority), `priority must be 'write', 'read' or 'poll'`)
  check(
    minBlock === undefined ||
      typeof minBlock === 'boolean' ||
      (typeof minBlock === 'bigint' && minBlock >= 0n) ||
      (Number.isSafeInteger(minBlock) && (minBlock as number) >= 0),
    'minBlock must be true, false, or a block number: a whole number or bigint, 0 or above',
  )
}
