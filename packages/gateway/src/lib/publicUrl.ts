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
