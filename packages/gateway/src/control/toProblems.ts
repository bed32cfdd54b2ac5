import type { z } from 'zod'
import type { FieldProblem } from './apiErrors.ts'

type Issue = z.core.$ZodIssue

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
}

const toFieldName = (path: readonly PropertyKey[]): string =>
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

const toFix = (issue: Issue, missing: boolean): string => {
  // A schema's own message is more specific than its type.
  if (!issue.message.startsWith('Invalid ')) return missing ? `is missing: it ${issue.message}` : issue.message
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String)
    const choice = values.length === 1 ? values[0] : `one of ${values.join(', ')}`
    return missing ? `is missing: send ${choice}` : `must be ${choice}`
  }
  const kind = issue.code === 'invalid_type' ? kinds[issue.expected] : undefined
  if (kind === undefined) return missing ? 'is missing' : 'is not valid: see GET /api/openapi.json'
  return missing ? `is missing: send ${kind}` : `must be ${kind}`
}

/** Whether an error message may contain a name that the client sent. Other names could be secrets pasted in the wrong place. */
export const isPlainName = (name: string): boolean => /^\w{1,40}$/.test(name)

/**
 * Turns zod issues into field problems with a fix.
 * @param issues - The zod issues.
 * @param input - The validated input, which distinguishes missing fields from wrong ones. Its values never appear in the problems.
 */
export const toProblems = (issues: readonly Issue[], input: unknown): readonly FieldProblem[] =>
  issues.flatMap((issue): readonly FieldProblem[] => {
    if (issue.code !== 'unrecognized_keys')
      return [{ field: toFieldName(issue.path), fix: toFix(issue, isMissing(input, issue.path)) }]
    return issue.keys.map((key) =>
      isPlainName(key)
        ? { field: toFieldName([...issue.path, key]), fix: 'is not a known field: remove it' }
        : { field: toFieldName(issue.path), fix: 'contains an unknown field: remove it' },
    )
  })
