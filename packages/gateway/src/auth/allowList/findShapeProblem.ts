import { foldName } from '../../lib/json/foldName.ts'
import type { Shape } from './paramShapes.ts'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Quotes a name from a caller, shortened. */
const quote = (name: string): string => JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name)

const describeNonObject = (where: string): string => `value that is not an object at ${where}`

/** Deeper than any list in the specification: topics are nested once. */
const maxListDepth = 4

const isPlain = (value: unknown, depth = maxListDepth): boolean =>
  Array.isArray(value) ? depth > 0 && value.every((item) => isPlain(item, depth - 1)) : !isObject(value)

/**
 * Compares a value with the shape that a method accepts. Names must match exactly, because a node may fold their case, ignore them, or know
 * more names than the specification.
 * @param where - The value's name in errors, such as `params[0]`.
 * @returns The problem, for "… not allowed with an address list"; `undefined` if the value matches.
 * @example
 * findShapeProblem({ a: 1 }, { kind: 'plain' }, 'params[0]') // 'object at params[0]'
 */
export const findShapeProblem = (value: unknown, shape: Shape, where: string): string | undefined => {
  if (value === undefined || value === null) return undefined
  switch (shape.kind) {
    case 'plain':
      return isPlain(value) ? undefined : `object at ${where}`
    case 'overrides':
      return isObject(value) && Object.keys(value).length === 0 ? undefined : 'state overrides'
    case 'items':
    case 'tuple':
      return findItemProblem(value, shape, where)
    case 'members':
      if (shape.orPlain && typeof value !== 'object') return undefined
      // Some nodes decode a list as an object, with its items in the order of the members.
      return isObject(value) ? findMemberProblem(value, shape.members, where) : describeNonObject(where)
    case 'addresses':
      if (!isObject(value)) return describeNonObject(where)
      return Object.values(value).every((inner) => isPlain(inner)) ? undefined : `object in ${where}`
    case 'tracer':
      return isObject(value) ? undefined : describeNonObject(where)
  }
}

const findMemberProblem = (
  value: Readonly<Record<string, unknown>>,
  members: ReadonlyMap<string, Shape>,
  where: string,
): string | undefined => {
  for (const [name, inner] of Object.entries(value)) {
    const known = members.get(name)
    if (known === undefined) return describeUnknownMember(name, [...members.keys()], where)
    const problem = findShapeProblem(inner, known, `${where}.${name}`)
    if (problem !== undefined) return problem
  }
  return undefined
}

const findItemProblem = (
  value: unknown,
  shape: Extract<Shape, { kind: 'items' | 'tuple' }>,
  where: string,
): string | undefined => {
  if (!Array.isArray(value)) return `value that is not a list at ${where}`
  for (const [index, item] of value.entries()) {
    const itemShape = shape.kind === 'items' ? shape.item : shape.positions[index]
    const place = `${where}[${index}]`
    if (itemShape === undefined) {
      if (item !== null) return `value at ${place}`
      continue
    }
    const problem = findShapeProblem(item, itemShape, place)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Describes an unknown member for an error, with a suggestion if a known name is similar. */
export const describeUnknownMember = (name: string, known: readonly string[], where: string): string => {
  const similar = known.find((one) => foldName(one) === foldName(name))
  return `unknown member ${quote(name)} of ${where}${similar === undefined ? '' : ` (did you mean ${quote(similar)}?)`}`
}
