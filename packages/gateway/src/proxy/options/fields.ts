import { findNearestName } from '@keyrail/core/internal'
import { z } from 'zod'
import { describeUnknownMethod, isWeightedMethod, weightedMethods } from '../method/weights.ts'

/** The message for a missing or wrong value. */
export const must = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }): string => (input === undefined ? `is missing: it ${what}` : what),
})

/** The longest time, in milliseconds. Node fires a longer timer at once. */
export const maxTimerMs = 2_147_483_647

/** A whole number. */
export const whole = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`
  return z.number(must(message)).int(message).min(min, message).max(max, message)
}
/** A text that is not empty. @param max - Its longest length, in characters. @default 200 */
export const text = (what: string, max = 200) =>
  z.string(must(what)).trim().min(1, what).max(max, `must have at most ${max} characters`)
/** True or false. */
export const flag = () => z.boolean(must('must be true or false'))
/** One of several texts. */
export const choice = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, must(`must be ${values.map((value) => `"${value}"`).join(' or ')}`))
/** How to fix unknown members: where each belongs, or what it was meant to be; else the members that there are. */
const describeUnknownMembers = (
  names: readonly string[],
  known: readonly string[],
  places: Readonly<Record<string, string>>,
): string => {
  const fixes = names.map((name) => {
    if (Object.hasOwn(places, name)) return `${name} belongs in ${places[name]}`
    const nearest = findNearestName(name, known)
    return nearest === undefined ? undefined : `did you mean "${nearest}"?`
  })
  return fixes.includes(undefined)
    ? [...fixes.filter((fix) => fix !== undefined), `the known members are ${known.join(', ')}`].join('; ')
    : fixes.join('; ')
}

/**
 * An object without unknown members.
 * @param places - Where members belong that are likely to be misplaced here, by name. @default none
 */
export const object = <T extends z.core.$ZodLooseShape>(shape: T, places: Readonly<Record<string, string>> = {}) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? describeUnknownMembers(issue.keys, Object.keys(shape), places)
        : `must be an object with the members ${Object.keys(shape).join(', ')}`,
  })

/** Whether a text is an http or https URL. */
export const isHttpUrl = (given: string): boolean => /^https?:$/.test(URL.parse(given)?.protocol ?? '')
/** An http or https URL. */
export const httpUrl = (what: string) => z.string(must(what)).refine((given) => isHttpUrl(given), what)

/** A ws or wss URL. */
export const wsUrl = (what: string) =>
  z.string(must(what)).refine((given) => /^wss?:$/.test(URL.parse(given)?.protocol ?? ''), what)

/** The path of a file or folder. */
export const path = (what: string) => text(`must be the path of ${what}`, 4_096)

/** The name of a method that a service can offer. */
export const methodName = () =>
  z
    .string()
    .refine(isWeightedMethod, { error: ({ input }) => describeUnknownMethod(String(input)) })
    // For editors, which then complete the names.
    .meta({ enum: weightedMethods })
