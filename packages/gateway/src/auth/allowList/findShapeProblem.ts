import { foldName } from './hasAmbiguousName.ts'
import type { Shape } from './paramShapes.ts'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A caller chooses the name, so a long one is cut. */
const shown = (name: string): string => JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name)

const notAnObject = (where: string): string => `value that is not an object at ${where}`

/** Deeper than any list in the specification: topics are a list in a list. */
const deepestList = 4

const isPlain = (value: unknown, depth = deepestList): boolean =>
  Array.isArray(value) ? depth > 0 && value.every((item) => isPlain(item, depth - 1)) : !isObject(value)

/**
 * Compares a value with the shape that a method takes. Names count exactly as they are written: a node may fold their case, ignore them,
 * or know more of them than the specification.
 * @param where - What an error calls the value, as in `params[0]`.
 * @returns What does not fit, for "… not allowed with an address list"; `undefined` where everything fits.
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
      // Some nodes read a list as an object, its items in the order of the members.
      return isObject(value) ? findMemberProblem(value, shape.members, where) : notAnObject(where)
    case 'addresses':
      if (!isObject(value)) return notAnObject(where)
      return Object.values(value).every((inner) => isPlain(inner)) ? undefined : `object in ${where}`
    case 'tracer':
      return isObject(value) ? undefined : notAnObject(where)
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
    const of = shape.kind === 'items' ? shape.item : shape.places[index]
    const place = `${where}[${index}]`
    if (of === undefined) {
      if (item !== null) return `value at ${place}`
      continue
    }
    const problem = findShapeProblem(item, of, place)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Describes an unknown member for an error, with the known member that it may be meant for. */
export const describeUnknownMember = (name: string, known: readonly string[], where: string): string => {
  const meant = known.find((one) => foldName(one) === foldName(name))
  return `unknown member ${shown(name)} of ${where}${meant === undefined ? '' : ` (did you mean ${shown(meant)}?)`}`
}
