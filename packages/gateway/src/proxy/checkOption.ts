/** The longest time, in milliseconds. Node fires a longer timer at once. */
export const maxMs = 2_147_483_647

/** Shows a name in a message unless it may be a secret: a URL or a key, if name and value were mixed up. */
const showName = (name: string): string => (/^[A-Za-z]{1,40}$/.test(name) ? ` '${name}'` : '')

/**
 * Checks that an option is an object, and that it has no unknown members.
 * @param option - Its name; empty for all options.
 * @throws {TypeError} that names the option, and does not repeat a value.
 */
export const getMembers = (
  value: unknown,
  option: string,
  known: readonly string[],
): Readonly<Record<string, unknown>> => {
  const place = option === '' ? 'the options' : option
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`${place} must be an object with ${known.join(', ')}`)
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new TypeError(
      `unknown option${showName(unknown)}${option === '' ? '' : ` in ${option}`}: the options are ${known.join(', ')}`,
    )
  return value as Readonly<Record<string, unknown>>
}

/** Checks a whole number. @throws {TypeError} that names the option and the range. */
export const checkInteger = (value: unknown, option: string, max: number, min = 1): number => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max)
    throw new TypeError(`${option} must be a whole number from ${min} to ${max}`)
  return value
}

/** Checks a boolean. @param defaultValue - Returned if it is `undefined`. @throws {TypeError} that names the option. */
export const checkSwitch = (value: unknown, option: string, defaultValue = false): boolean => {
  if (value !== undefined && typeof value !== 'boolean') throw new TypeError(`${option} must be true or false`)
  return value ?? defaultValue
}
