/**
 * Parses JSON, with or without a byte order mark before it.
 *
 * @throws {SyntaxError} It is not JSON.
 * @see RFC 8259 section 8.1
 */
export const parseJson = (text: string): unknown => JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text)
