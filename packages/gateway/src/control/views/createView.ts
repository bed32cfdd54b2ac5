import type { z } from 'zod'
import { isoTime } from './times.ts'

type Shown<Stored, Schema> = [z.output<Schema>] extends [string | null]
  ? Stored extends number
    ? string
    : Stored
  : Stored

/** The members of a record that a schema has too. */
type ViewOf<Shape extends z.ZodRawShape, Given> = {
  readonly [Name in keyof Given & keyof Shape]: Shown<Given[Name], Shape[Name]>
}

const isTime = (schema: z.core.$ZodType): boolean => {
  const { def } = schema._zod as unknown as {
    readonly def: { readonly format?: string; readonly innerType?: z.core.$ZodType }
  }
  return def.format === 'datetime' || (def.innerType !== undefined && isTime(def.innerType))
}

/**
 * Creates the function that converts a record to its API form, as far as both have the same members. A number where the schema has a time becomes
 * ISO 8601.
 */
export const createView = <Shape extends z.ZodRawShape>({
  shape,
}: z.ZodObject<Shape>): (<Given extends object>(given: Given) => ViewOf<Shape, Given>) => {
  const members = Object.entries(shape).map(([name, schema]) => ({ name, isTime: isTime(schema) }))
  return <Given extends object>(given: Given) =>
    Object.fromEntries(
      members.flatMap(({ name, isTime: isMoment }) => {
        if (!(name in given)) return []
        const value = given[name as keyof Given]
        return [[name, isMoment && typeof value === 'number' ? isoTime(value) : value]]
      }),
    ) as ViewOf<Shape, Given>
}
