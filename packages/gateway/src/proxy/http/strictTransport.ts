const hereAlone = /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/**
 * The value of `Strict-Transport-Security`, by which browsers keep to https for a year.
 * @param publicUrl - Where browsers reach the service.
 * @returns `undefined` where that is not https, or a name of this machine: it would be meant for all that runs there.
 * @see RFC 6797 section 6.1
 */
export const strictTransport = (publicUrl: string): string | undefined => {
  const { protocol, hostname } = new URL(publicUrl)
  return protocol === 'https:' && !hereAlone.test(hostname) ? 'max-age=31536000' : undefined
}
