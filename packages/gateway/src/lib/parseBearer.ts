/**
 * Returns the token of an `Authorization` header.
 * @returns `undefined` if there is no bearer token: no header, or another scheme. An empty or malformed token is returned as sent.
 * @see RFC 6750 section 2.1
 */
export const parseBearer = (header: string | undefined): string | undefined => {
  const [, token] = /^bearer(?:$| +)(.*)$/is.exec(header ?? '') ?? []
  return token
}
