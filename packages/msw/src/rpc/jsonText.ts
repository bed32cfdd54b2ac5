/** A result that is already serialized. The longest results are built as JSON directly. */
export interface JsonText {
  readonly json: string
}

const texts = new WeakSet<object>()

/** Marks a JSON string as an already serialized result. */
export function jsonText(json: string): JsonText {
  const text = { json }
  texts.add(text)
  return text
}

/** Serializes a result. */
export function toJson(result: unknown): string {
  return texts.has(result as object) ? (result as JsonText).json : (JSON.stringify(result) ?? 'null')
}
