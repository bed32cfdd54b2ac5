/** An object as it stands in the database, as JSON text. */
export const toJson = (value: Readonly<Record<string, unknown>> | null): string | null =>
  value === null ? null : JSON.stringify(value)

/** Reads what `toJson` wrote. */
export const fromJson = (text: string | null): Readonly<Record<string, unknown>> | null =>
  text === null ? null : (JSON.parse(text) as Record<string, unknown>)
