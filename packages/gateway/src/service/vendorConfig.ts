import { findNearestName } from '@keyrail/core/internal'
import { z } from 'zod'
import { findVendor, vendors, vendorsByUrl } from '../lib/vendors.ts'
import { isHttpUrl, must, object, path, text } from '../proxy/options/fields.ts'

const names = Object.keys(vendors)

/** Describes an unknown vendor. @param name - Shown only if it is near a known name, because it may be a misplaced secret. */
const describeUnknownVendor = (name: string): string => {
  if (vendorsByUrl.includes(name))
    return `has the vendor ${name}, whose endpoints have no common URL: use url, urlEnv or urlFile`
  const nearest = findNearestName(name, names)
  return nearest === undefined
    ? `has an unknown vendor: the known ones are ${names.join(', ')}; for any other, use url, urlEnv or urlFile`
    : `has an unknown vendor: did you mean "${nearest}"?`
}

/** The name of a vendor. */
export const vendorName = () =>
  z
    .string(must(`must be a vendor: ${names.join(', ')}`))
    .refine((name) => findVendor(name) !== undefined, {
      error: ({ input }) => describeUnknownVendor(String(input)),
    })
    // For editors, which then complete the names.
    .meta({ enum: names })

/** Where the key of a vendor is. It is a secret, so it has no place in the config itself. */
export const vendorKeyShape = {
  keyEnv: text('must be the name of an environment variable that holds the key')
    .exactOptional()
    .describe('The name of an environment variable that holds the key.'),
  keyFile: path('a file that holds the key').exactOptional().describe('The path of a file that holds the key.'),
}

/** The schema of `vendors`. */
export const vendorKeys = z.record(
  vendorName(),
  object(vendorKeyShape).refine(
    ({ keyEnv, keyFile }) => keyEnv === undefined || keyFile === undefined,
    'must have only one of keyEnv and keyFile',
  ),
  must('must be an object with the key for each vendor, such as { "alchemy": { "keyEnv": "ALCHEMY_KEY" } }'),
)

/** How a node is written as a text, for errors. */
export const upstreamTextForms =
  'must be the URL of a node, or a vendor with the variable or file of its key, such as "alchemy://ENV:ALCHEMY_KEY"'

/** A node that was written as a text, as an object of `upstreams`. */
type ShortNode = { readonly [Member in 'url' | 'urlEnv' | 'urlFile' | 'vendor' | 'keyEnv' | 'keyFile']?: string }

const toReference = (given: string, member: 'key' | 'url'): ShortNode | undefined => {
  const [, kind, name] = /^(ENV|FILE):(.+)$/s.exec(given) ?? []
  return name === undefined ? undefined : { [`${member}${kind === 'ENV' ? 'Env' : 'File'}`]: name }
}

/**
 * Parses a node that is written as a text: a URL, `ENV:NAME` or `FILE:PATH` for one in a variable or a file, or a vendor with its key:
 * `alchemy://ENV:NAME`, `alchemy://FILE:PATH`, and `alchemy://` with the key of `vendors`.
 * @returns The node as an object of `upstreams`, or the fault.
 */
export const parseUpstreamText = (given: string): ShortNode | { readonly fault: string } => {
  if (isHttpUrl(given)) return { url: given }
  const [, vendor, rest = ''] = /^([a-z][a-z0-9-]*):\/\/(.*)$/s.exec(given) ?? []
  if (vendor === undefined) return toReference(given, 'url') ?? { fault: upstreamTextForms }
  if (findVendor(vendor) === undefined) return { fault: describeUnknownVendor(vendor) }
  if (rest === '') return { vendor }
  const key = toReference(rest, 'key')
  return key === undefined
    ? {
        fault: `must not have the key itself: write ${vendor}://ENV:NAME or ${vendor}://FILE:PATH, with the variable or file that holds it`,
      }
    : { vendor, ...key }
}
