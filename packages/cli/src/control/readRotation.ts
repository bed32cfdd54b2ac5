import type { ControlApi } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { readExpiry } from './readExpiry.ts'

/**
 * Reads how a key is rotated: `--grace`, in days, and `--expires`.
 *
 * @throws {CliError} exit code 2 where one of them cannot be right.
 */
export function readRotation(given: ReadArguments): ControlApi['POST /api/keys/{keyId}/rotate']['body'] {
  const graceDays = readWholeNumber('--grace', given.text('grace'), { min: 0, max: 7 })
  const expiresAt = readExpiry(given.text('expires'))
  return { ...(graceDays === undefined ? {} : { graceDays }), ...(expiresAt === undefined ? {} : { expiresAt }) }
}
