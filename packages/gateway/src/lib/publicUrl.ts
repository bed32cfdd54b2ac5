/**
 * Where a server that listens can be reached from this machine.
 * @param host - As it was given to listen. An interface that stands for all of them is shown by a name that works here.
 */
export const listeningUrl = (host: string, port: number, protocol: 'http' | 'https' = 'http'): string =>
  `${protocol}://${shownHost(host)}:${port}`

const shownHost = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * The public URL without its trailing slash.
 * @throws {TypeError} where it is not http or https, or has what an address cannot be built on.
 */
export const checkPublicUrl = (given: string | undefined): string | undefined => {
  if (given === undefined) return undefined
  const url = URL.parse(given)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new TypeError('publicUrl is not an http or https URL')
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    throw new TypeError('publicUrl must have no query, no fragment and no credentials')
  return url.href.replace(/\/+$/, '')
}
