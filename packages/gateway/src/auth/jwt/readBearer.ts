/**
 * Takes the token out of an `Authorization` header.
 * @returns `undefined` where there is no bearer token: no header, or another scheme. An empty or spoiled one is given as it stands, to be rejected.
 * @see RFC 6750 section 2.1
 */
export const readBearer = (header: string | undefined): string | undefined => {
  const [, token] = /^bearer(?:$| +)(.*)$/is.exec(header ?? '') ?? []
  return token
}
