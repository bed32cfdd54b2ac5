import { invalidOption } from './invalidOption.ts'

/**
 * Refuses an option that is of another type. Undefined passes: it means the default.
 *
 * @param name - The option's name.
 * @param value - What was given. It is not repeated, because it may be a secret in the wrong place.
 * @param type - What it must be.
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and both types.
 */
export function checkType(name: string, value: unknown, type: 'boolean' | 'function'): void {
  if (value !== undefined && typeof value !== type)
    throw invalidOption(`${name} must be a ${type}, not of type ${typeof value}`)
}
