/** The fault in a request to subscribe. It never leaves the parser. */
export class RequestProblem extends Error {}

/** Whether a value is a JSON object. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Quotes a caller's value for a message. It may be as long as the body, so it is cut. */
export const quote = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
