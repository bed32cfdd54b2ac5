import { invalidOption } from './invalidOption.ts'

/**
 * Rejects an option of the wrong type. Undefined is valid and means the default.
 *
 * @param name - The option's name.
 * @param value - The value. The message does not contain it, because it may be a misplaced secret.
 * @param type - The expected type.
 * @throws {KeyrailError} kind `invalidRequest`, with the option's name and both types.
 */
export function checkType(name: string, value: unknown, type: 'boolean' | 'function'): void {
  if (value !== undefined && typeof value !== type)
    throw invalidOption(`${name} must be a ${type}, not of type ${typeof value}`)
}
