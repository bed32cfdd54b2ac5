const json: ReadonlySet<string> = new Set(['application/json', 'application/json-rpc', 'application/jsonrequest'])

/**
 * Whether a content type is one of JSON-RPC. A missing header is accepted, and parameters such as `charset` are ignored.
 * @see JSON-RPC over HTTP (the three names), RFC 9110 section 8.3
 */
export const isJsonMediaType = (header: string | undefined): boolean =>
  header === undefined ||
  header === 'application/json' ||
  json.has((header.split(';', 1)[0] ?? '').trim().toLowerCase())
