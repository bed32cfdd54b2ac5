/** A result that is JSON already: the longest ones are written once, and not built of objects first. */
export interface JsonText {
  readonly json: string
}

const texts = new WeakSet<object>()

/** Marks JSON as a result. */
export function jsonText(json: string): JsonText {
  const text = { json }
  texts.add(text)
  return text
}

/** A result in JSON. */
export function toJson(result: unknown): string {
  return texts.has(result as object) ? (result as JsonText).json : (JSON.stringify(result) ?? 'null')
}
