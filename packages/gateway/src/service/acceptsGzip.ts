/** With nothing optional before the look ahead: what may be shortened there is tried at every length, which is quadratic in the caller's header. */
const gzipWanted = /(?:^|,)\s*(?:gzip|\*)(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i

/** Whether a caller takes what is zipped, by its header `Accept-Encoding`. The time it takes is linear in the header. */
export const acceptsGzip = (header: string | string[] | undefined): boolean => gzipWanted.test(String(header ?? ''))
