const localHost = /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/**
 * Gets the value of `Strict-Transport-Security`, which makes browsers use only https for a year.
 * @param publicUrl - The service's URL for browsers.
 * @returns `undefined` if the URL is not https, or is on this machine, where the header would apply to all other servers too.
 * @see RFC 6797 section 6.1
 */
export const strictTransport = (publicUrl: string): string | undefined => {
  const { protocol, hostname } = new URL(publicUrl)
  return protocol === 'https:' && !localHost.test(hostname) ? 'max-age=31536000' : undefined
}
