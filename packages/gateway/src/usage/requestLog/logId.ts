import { randomInt } from 'node:crypto'

/** Digits of the time in base 36: enough until the year 5188. */
const timeLength = 9
const digits = 36
const randomLength = 11

/**
 * Creates the id of a request in the log: `log_`, its time, and random characters. Later requests have greater ids.
 * @param at - Milliseconds since 1970.
 */
export const createLogId = (at: number): string => {
  let text = `log_${at.toString(digits).padStart(timeLength, '0')}`
  for (let index = 0; index < randomLength; index += 1) text += randomInt(digits).toString(digits)
  return text
}

/** Gets the time in an id of `createLogId`, in milliseconds since 1970. */
export const getLogTime = (id: string): number => Number.parseInt(id.slice(4, 4 + timeLength), digits)
