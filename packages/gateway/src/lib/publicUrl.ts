/**
 * Gets the URL at which a server can be reached from this machine.
 * @param host - The host that the server listens on. The wildcard addresses `0.0.0.0` and `::` become `localhost`.
 */
export const getListeningUrl = (host: string, port: number, protocol: 'http' | 'https' = 'http'): string =>
  `${protocol}://${toUrlHost(host)}:${port}`

const toUrlHost = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * Validates the public URL and removes its trailing slash.
 * @throws {TypeError} If it is not http or https, or has a query, a fragment or credentials.
 */
export const parsePublicUrl = (given: string | undefined): string | undefined => {
  if (given === undefined) return undefined
  const url = URL.parse(given)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new TypeError('publicUrl is not an http or https URL')
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    throw new TypeError('publicUrl must have no query, no fragment and no credentials')
  return url.href.replace(/\/+$/, '')
}
