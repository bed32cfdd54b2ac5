import type { z } from 'zod'
import type { FieldProblem } from './reply.ts'

type Issue = z.core.$ZodIssue

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (field, part) =>
      typeof part === 'number' ? `${field}[${part}]` : field === '' ? String(part) : `${field}.${String(part)}`,
    '',
  )

const isMissing = (input: unknown, path: readonly PropertyKey[]): boolean =>
  path.length > 0 &&
  path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[part] : undefined,
    input,
  ) === undefined

const fixOf = (issue: Issue, missing: boolean): string => {
  // What a schema says itself is better than what its type says.
  if (!issue.message.startsWith('Invalid ')) return missing ? `is missing: it ${issue.message}` : issue.message
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String)
    const choice = values.length === 1 ? values[0] : `one of ${values.join(', ')}`
    return missing ? `is missing: give ${choice}` : `must be ${choice}`
  }
  const kind = issue.code === 'invalid_type' ? (kinds[issue.expected] ?? 'something else') : 'something else'
  return missing ? `is missing: give ${kind}` : `must be ${kind}`
}

/** Whether a name that a caller chose may be repeated to it. It may be anything, such as a secret that was pasted to the wrong place. */
export const isPlainName = (name: string): boolean => /^\w{1,40}$/.test(name)

/**
 * Says of each field what is wrong with it and how to fix it, from what zod found.
 * @param issues - All that zod found.
 * @param input - What was checked: to tell what is missing from what is wrong. None of its values is repeated.
 */
export const toProblems = (issues: readonly Issue[], input: unknown): readonly FieldProblem[] =>
  issues.flatMap((issue): readonly FieldProblem[] => {
    if (issue.code !== 'unrecognized_keys')
      return [{ field: fieldOf(issue.path), fix: fixOf(issue, isMissing(input, issue.path)) }]
    return issue.keys.map((key) =>
      isPlainName(key)
        ? { field: fieldOf([...issue.path, key]), fix: 'is not known here: leave it out' }
        : { field: fieldOf(issue.path), fix: 'holds a name that is not known here: leave it out' },
    )
  })
